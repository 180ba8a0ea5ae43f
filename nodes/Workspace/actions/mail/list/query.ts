import { createRefusal } from '../../../../core/errors';
import { quoteField } from '../../../../fields/field';
import type { ListParams } from './fields';

/**
 * Builds Gmail's search term for a sender. Quotes keep the text from adding other terms. Returns no
 * term for an empty text.
 */
export function buildSenderTerms(from: string): string[] {
	const address = /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
	// Gmail's search syntax has no way to escape a quote inside quotes.
	const words = address.replaceAll(/["“”„‟＂\s]+/g, ' ').trim();
	return words === '' ? [] : [`from:"${words}"`];
}

const daysBySpan = { any: 0, between: 0, last24Hours: 1, last7Days: 7, last30Days: 30 };

type ReceivedParams = Pick<ListParams, 'received' | 'receivedAfter' | 'receivedBefore'>;

/**
 * Builds the terms for the time of arrival, in epoch seconds, because Gmail reads a date as Pacific
 * time.
 * @throws NodeError 400
 */
export function buildReceivedTerms(params: ReceivedParams): string[] {
	const { received, receivedAfter, receivedBefore } = params;
	if (received === 'between' && receivedAfter === '' && receivedBefore === '')
		throw createRefusal(
			`${quoteField('receivedAfter')} or ${quoteField('receivedBefore')} is required`,
			`Enter at least one of the two times, or change ${quoteField('received')}.`,
		);
	const toSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
	const days = daysBySpan[received];
	const terms: string[] = [];
	if (days > 0) terms.push(`after:${toSeconds(Date.now() - days * 86_400_000)}`);
	if (receivedAfter !== '') terms.push(`after:${toSeconds(Date.parse(receivedAfter))}`);
	if (receivedBefore !== '') terms.push(`before:${toSeconds(Date.parse(receivedBefore))}`);
	return terms;
}

/** Removes texts in quotes, except a single word that is the value of a search word. */
const removePhrases = (query: string) => query.replaceAll(/(:"[^"\s]*")|"[^"]*"/g, '$1');

/** Returns whether a search asks for drafts itself. */
export const searchesDrafts = (query: string, labelIds: readonly string[]): boolean =>
	/\b(?:in|is|label):["({]?(?:drafts?|anywhere)(?![\w-])/i.test(removePhrases(query)) ||
	labelIds.some((label) => /^drafts?$/i.test(label));

/**
 * The words before a colon that Gmail's search knows. Source:
 * https://support.google.com/mail/answer/7190
 */
const searchWords =
	/^(?:after|around|bcc|before|category|cc|deliveredto|filename|from|has|in|is|label|larger|list|newer|newer_than|older|older_than|rfc822msgid|size|smaller|subject|to)$/i;

/**
 * Refuses a search word without a value, such as `from:` with an expression that is empty for an
 * item. Gmail would find all emails.
 * @throws NodeError 400
 */
export function refuseEmptySearchWords(query: string): void {
	// Empty quotes end a value, as a bracket does.
	const unquotedText = query.replaceAll(/"[^"]+"/g, 'text').replaceAll('""', ')');
	const words = unquotedText.matchAll(
		/(?<![^\s({-])([a-z_\d]+):(?=[\s({]*(?:$|[)}])|\s+-?([a-z_\d]+):)/gi,
	);
	// What follows may also be a value with a colon, such as `subject: re:`.
	for (const [, word = '', nextWord] of words) {
		const hasNoValue = nextWord === undefined || searchWords.test(nextWord);
		if (hasNoValue && searchWords.test(word))
			throw createRefusal(
				`${quoteField('query')} has '${word}:' without a value`,
				'If the value is an expression, check that the input item contains the data.',
			);
	}
}
