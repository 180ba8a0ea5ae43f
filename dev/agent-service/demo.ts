import { setTimeout as sleep } from 'node:timers/promises';

import type { ExecuteFields } from './request.ts';
import type { Message } from './script.ts';

// It is not known what the real service answers and sends, so these texts are made up.

export const buildDemoAnswer = ({ sessionId, startStepName }: ExecuteFields): object => ({
	sessionId,
	startStepName,
	status: 'accepted',
});

/** Builds a step, then an answer that repeats the input, or the task if there is no input. With `ask`, a question takes the place of the answer. With `chat`, texts come before the answer. */
export function buildDemoMessages({
	startStepName,
	initialPayload,
}: ExecuteFields): readonly Message[] {
	const payload = JSON.parse(initialPayload) as Record<string, unknown>;
	const step = { type: 'step', step: startStepName };
	if (startStepName === 'ask')
		return [step, { type: 'question', text: 'By when do you need it?' }];
	const texts = startStepName === 'chat' ? ['Let me see.', 'This takes a moment.'] : [];
	return [
		step,
		...texts.map((text) => ({ type: 'step', text })),
		{
			type: 'answer',
			task: payload.task ?? null,
			text: `Done: ${toText(payload.input || payload.task || '')}`,
		},
	];
}

/** Sends the answer to the URL in the payload, as an agent does after long work. Repeats it until n8n accepts it, because n8n may not be waiting yet. */
export async function callBack(fields: ExecuteFields, pauseMilliseconds = 500): Promise<void> {
	const { resumeUrl } = JSON.parse(fields.initialPayload) as { resumeUrl?: unknown };
	// The stand-in sends requests only to this machine.
	if (typeof resumeUrl !== 'string' || !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(resumeUrl))
		return;
	const body = JSON.stringify(buildDemoMessages(fields).at(-1));
	for (let tries = 0; tries < 60; tries++) {
		await sleep(pauseMilliseconds);
		const headers = { 'content-type': 'application/json' };
		const response = await fetch(resumeUrl, { method: 'POST', headers, body }).catch(
			() => undefined,
		);
		if (response?.ok) return;
	}
}

const toText = (value: unknown): string =>
	typeof value === 'string' ? value : JSON.stringify(value);
