/** Matches numbers that may be too long for a JavaScript number, and quotes, so that strings can be skipped. */
const quoteOrLongNumberPattern = /"|[-+.\deE]{16,}/g;
const integerPattern = /^-?\d+$/;

/** Puts integers that a JavaScript number cannot hold into quotes, in linear time. @returns undefined if there are no such integers */
export function quoteUnsafeIntegers(json: string): string | undefined {
	const pieces: string[] = [];
	let copiedLength = 0;
	quoteOrLongNumberPattern.lastIndex = 0;
	for (let match = quoteOrLongNumberPattern.exec(json); match; match = quoteOrLongNumberPattern.exec(json)) {
		const [matchedText] = match;
		if (matchedText === '"') {
			quoteOrLongNumberPattern.lastIndex = findStringEnd(json, match.index);
			continue;
		}
		if (!integerPattern.test(matchedText) || Number.isSafeInteger(Number(matchedText))) continue;
		pieces.push(json.slice(copiedLength, match.index), `"${matchedText}"`);
		copiedLength = match.index + matchedText.length;
	}
	return pieces.length === 0 ? undefined : pieces.join('') + json.slice(copiedLength);
}

function findStringEnd(json: string, openingQuote: number): number {
	for (let quote = json.indexOf('"', openingQuote + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let backslashes = 0;
		while (json[quote - 1 - backslashes] === '\\') backslashes++;
		// After an odd number of backslashes, the quote is escaped and belongs to the string.
		if (backslashes % 2 === 0) return quote + 1;
	}
	return json.length;
}
