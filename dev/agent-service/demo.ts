import { setTimeout as sleep } from 'node:timers/promises';

import type { ExecuteFields } from './request.ts';
import type { Message, MessageObject } from './script.ts';

// It is not known what the real service answers and sends, so these texts are made up.

export const buildDemoAnswer = ({ sessionId, startStepName }: ExecuteFields): object => ({
	sessionId,
	startStepName,
	status: 'accepted',
});

/** The steps before the end of a turn. */
function buildSteps(startStepName: string): readonly MessageObject[] {
	const steps: MessageObject[] = [{ type: 'step', step: startStepName }];
	if (startStepName === 'chat')
		steps.push(
			{ type: 'step', text: 'Let me see.' },
			{ type: 'step', text: 'This takes a moment.' },
		);
	return steps;
}

/** Builds an answer that repeats the input, or the task if there is no input. */
function buildTextAnswer({ initialPayload }: ExecuteFields): MessageObject {
	const payload = JSON.parse(initialPayload) as Record<string, unknown>;
	const text = `Done: ${toText(payload.input || payload.task || '')}`;
	return { type: 'answer', task: payload.task ?? null, text };
}

/** Builds steps, an answer and `done`. With the step `ask`, a question takes the place of the answer. With `chat`, the steps have texts. */
export function buildDemoMessages(fields: ExecuteFields): readonly Message[] {
	const question = { type: 'question', text: 'By when do you need it?' };
	const { startStepName } = fields;
	const last = startStepName === 'ask' ? question : buildTextAnswer(fields);
	return [...buildSteps(startStepName), last, { type: 'done' }];
}

/** Sends the answer to the URL in the payload, as an agent does after long work. Repeats it until n8n accepts it, because n8n may not be waiting yet. */
export async function callBack(fields: ExecuteFields, pauseMilliseconds = 500): Promise<void> {
	const { resumeUrl } = JSON.parse(fields.initialPayload) as { resumeUrl?: unknown };
	// The stand-in sends requests only to this machine.
	if (typeof resumeUrl !== 'string' || !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(resumeUrl))
		return;
	const body = JSON.stringify(buildTextAnswer(fields));
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
