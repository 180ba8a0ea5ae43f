import type { Answer } from '../googleAccount.ts';

/** A question to Google. */
export interface Question {
	/** What the package relies on; for an open question, the question. */
	readonly claim: string;
	/** @returns what Google did, and whether that is what was claimed; undefined if nothing was claimed */
	readonly ask: () => Promise<{
		readonly seen: string;
		readonly isAsClaimed: boolean | undefined;
	}>;
}

/** A value in an answer's JSON, by its path: `sheets.0.title`. */
export function at(value: unknown, path: string): unknown {
	return path
		.split('.')
		.reduce<unknown>(
			(inner, key) =>
				typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
			value,
		);
}

/** The body of a successful answer. @throws an error that says what Google answered */
export function ok(answer: Answer, what: string): unknown {
	if (answer.status < 200 || answer.status > 299) throw new Error(`${what}: ${refusal(answer)}`);
	return answer.body;
}

/** Status and Google's own words. */
export function refusal({ status, body }: Answer): string {
	const message = at(body, 'error.message');
	return `${status}${typeof message === 'string' ? ` "${message}"` : ''}`;
}
