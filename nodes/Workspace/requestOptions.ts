import type { Field } from './operation';

/** The options that every operation has; they govern its requests. */
export const requestOptions = [
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		default: 60,
		minimum: 0,
		maximum: 3600,
		description:
			'How long to wait between tries of a request, in total. If Google asks for a longer wait, the item fails at once and says so.',
	},
	{
		displayName: 'Max Tries',
		name: 'maxTries',
		type: 'number',
		default: 5,
		minimum: 1,
		maximum: 20,
		description:
			'How often a request is tried when Google limits the rate or has trouble. What may have been carried out is never sent twice.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		default: 300,
		minimum: 1,
		maximum: 3600,
		description: 'How long a single request may take',
	},
] as const satisfies readonly Field[];

export interface RequestLimits {
	readonly maxTries: number;
	readonly maxRetryWaitSeconds: number;
	readonly timeoutSeconds: number;
}
