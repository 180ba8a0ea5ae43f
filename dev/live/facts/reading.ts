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

/** A question about one request. @param isRight whether an answer is as claimed; without it, nothing is claimed */
export const askFor = (
	claim: string,
	request: () => Promise<Answer>,
	isRight?: (answer: Answer) => boolean,
): Question => ({
	claim,
	async ask() {
		const answer = await request();
		return { seen: `Google answered ${refusal(answer)}.`, isAsClaimed: isRight?.(answer) };
	},
});

export const isRefused = ({ status }: Answer): boolean => status === 400;

/** A question about what one has seen before. @param words for what is as claimed, and for what is not */
export const tell = (claim: string, isAsClaimed: boolean, words: [string, string]): Question => ({
	claim,
	ask: () => Promise.resolve({ seen: isAsClaimed ? words[0] : words[1], isAsClaimed }),
});

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
