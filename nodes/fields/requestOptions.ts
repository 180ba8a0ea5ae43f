import type { Field } from './field';

/** The options that every operation has; they govern its requests. */
export const requestOptions = [
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		default: 120,
		minimum: 0,
		maximum: 3600,
		description:
			'Max total time to wait between tries of a request. If the service asks for a longer wait, the item fails at once.',
	},
	{
		displayName: 'Max Tries',
		name: 'maxTries',
		type: 'number',
		default: 5,
		minimum: 1,
		maximum: 20,
		description:
			'How often to try a request if the service is rate-limiting requests or cannot be reached. A request that may have been carried out is sent again only if repeating it changes nothing.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		default: 300,
		minimum: 1,
		maximum: 3600,
		description: 'Max time for a single request',
	},
] as const satisfies readonly Field[];

export interface RequestLimits {
	readonly maxTries: number;
	readonly maxRetryWaitSeconds: number;
	readonly timeoutSeconds: number;
}

/** @param values checked values of all fields */
export function limitsOf(values: Readonly<Record<string, unknown>>): RequestLimits {
	const { maxTries, maxRetryWaitSeconds, timeoutSeconds } = values;
	return {
		maxTries: Number(maxTries),
		maxRetryWaitSeconds: Number(maxRetryWaitSeconds),
		timeoutSeconds: Number(timeoutSeconds),
	};
}
