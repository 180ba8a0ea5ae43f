import type { ExecuteFields } from './request.ts';
import type { Message } from './script.ts';

// The following is made up, because what the real service answers and sends is not known.

export const demoAnswer = ({ sessionId, startStepName }: ExecuteFields): object => ({
	sessionId,
	startStepName,
	status: 'accepted',
});

/** A step, then an answer that repeats the task. */
export function demoMessages({ startStepName, initialPayload }: ExecuteFields): readonly Message[] {
	const payload = JSON.parse(initialPayload) as Record<string, unknown>;
	return [
		{ type: 'step', step: startStepName },
		{ type: 'answer', task: payload.task ?? null, text: `Done: ${asText(payload.input ?? '')}` },
	];
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
