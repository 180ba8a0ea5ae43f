/** A number of so many characters may be more than a JavaScript number holds. Also finds the quotes, to pass over texts. */
const quoteOrLongNumber = /"|[-+.\deE]{16,}/g;
const integer = /^-?\d+$/;

/**
 * A JSON text with the integers that a JavaScript number cannot hold as texts of their digits; undefined where it has none. In time
 * that grows with the length of the text.
 * @param json valid JSON
 */
export function withDigitsAsText(json: string): string | undefined {
	const parts: string[] = [];
	let copied = 0;
	quoteOrLongNumber.lastIndex = 0;
	for (let found = quoteOrLongNumber.exec(json); found; found = quoteOrLongNumber.exec(json)) {
		const [token] = found;
		if (token === '"') {
			quoteOrLongNumber.lastIndex = endOfText(json, found.index);
			continue;
		}
		if (!integer.test(token) || Number.isSafeInteger(Number(token))) continue;
		parts.push(json.slice(copied, found.index), `"${token}"`);
		copied = found.index + token.length;
	}
	return parts.length === 0 ? undefined : parts.join('') + json.slice(copied);
}

/** Behind the closing quote. */
function endOfText(json: string, openingQuote: number): number {
	for (let quote = json.indexOf('"', openingQuote + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let backslashes = 0;
		while (json[quote - 1 - backslashes] === '\\') backslashes++;
		if (backslashes % 2 === 0) return quote + 1;
	}
	return json.length;
}
