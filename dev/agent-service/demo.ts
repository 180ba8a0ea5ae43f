import { setTimeout as sleep } from 'node:timers/promises';

import type { ExecuteFields } from './request.ts';
import type { Message } from './script.ts';

// What the real service answers and sends is not known, so the following is made up.

export const buildDemoAnswer = ({ sessionId, startStepName }: ExecuteFields): object => ({
	sessionId,
	startStepName,
	status: 'accepted',
});

/** Sends a step, then an answer that repeats the input, or the task if there is none. `ask` sends a question instead, and `chat` sends texts before the answer. */
export function buildDemoMessages({ startStepName, initialPayload }: ExecuteFields): readonly Message[] {
	const payload = JSON.parse(initialPayload) as Record<string, unknown>;
	const step = { type: 'step', step: startStepName };
	if (startStepName === 'ask') return [step, { type: 'question', text: 'By when do you need it?' }];
	const said = startStepName === 'chat' ? ['Let me see.', 'This takes a moment.'] : [];
	return [
		step,
		...said.map((text) => ({ type: 'step', text })),
		{
			type: 'answer',
			task: payload.task ?? null,
			text: `Done: ${toText(payload.input || payload.task || '')}`,
		},
	];
}

/** Sends the answer to the URL in the payload, as after long work, and again until n8n accepts it: n8n may not be waiting yet. */
export async function callBack(fields: ExecuteFields, pauseMilliseconds = 500): Promise<void> {
	const { resumeUrl } = JSON.parse(fields.initialPayload) as { resumeUrl?: unknown };
	// The stand-in talks to this machine only.
	if (typeof resumeUrl !== 'string' || !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(resumeUrl)) return;
	const body = JSON.stringify(buildDemoMessages(fields).at(-1));
	for (let tries = 0; tries < 60; tries++) {
		await sleep(pauseMilliseconds);
		const headers = { 'content-type': 'application/json' };
		const answer = await fetch(resumeUrl, { method: 'POST', headers, body }).catch(() => undefined);
		if (answer?.ok) return;
	}
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
