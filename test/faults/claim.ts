import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

/** How a node's run ended. */
export type Ended = { readonly items: INodeExecutionData[] } | { readonly error: NodeApiError };

export const toEnd = (run: Promise<INodeExecutionData[]>): Promise<Ended> =>
	run.then(
		(items) => ({ items }),
		(error: unknown) => ({ error: error as NodeApiError }),
	);

/** What a run says of its work, as a user reads it. */
export type Claim = 'done' | 'not done' | 'unknown';

const unknown = /\bmay (still )?(have (been|started|succeeded)|exist)\b/;
const done =
	/\bThe (document|spreadsheet|file) \S+( \(\S+\))? was already created\b|\bagent was started\b/;

/** Reads an error's claim. One that says nothing about its work claims that it was not done. */
export function readClaim(error: { message: string; description?: string | null }): Claim {
	const { message, description } = error;
	const text = `${message} ${description ?? ''}`;
	if (unknown.test(text)) return 'unknown';
	return done.test(text) ? 'done' : 'not done';
}

/**
 * What is false about a claim; undefined when nothing is.
 * @param times how often the work was done: 1 is once, a part of it is half done
 */
export function findLie(claim: Claim, times: number): string | undefined {
	if (times > 1) return 'done twice';
	if (claim === 'not done' && times > 0) return 'says that it was not done, and it was';
	if (claim === 'done' && times === 0) return 'says that it was done, and it was not';
	return undefined;
}

/** @param times how often the work was done; undefined for an operation that only reads */
export function lieOfSuccess(times = 1): string | undefined {
	if (times === 1) return undefined;
	return times > 1 ? 'done twice' : 'a success that was not done';
}
