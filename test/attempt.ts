import type { NodeError } from '../nodes/core/errors';

type Known = Pick<NodeError, 'outcome' | 'retryable'>;

/** What an attempt leaves, as tables of tests write it: `final` where the same request would fail again. */
export const attempts = {
	notDone: { outcome: 'notDone', retryable: true },
	unknown: { outcome: 'unknown', retryable: true },
	final: { outcome: 'notDone', retryable: false },
	finalUnknown: { outcome: 'unknown', retryable: false },
} as const satisfies Readonly<Record<string, Known>>;

export type AttemptName = keyof typeof attempts;
