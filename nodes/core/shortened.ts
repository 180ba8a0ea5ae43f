/** The beginning of a text that comes from outside, for a message or a hint. @param length in UTF-16 units */
export function shortened(text: string, length = 100): string {
	if (text.length <= length) return text;
	// Half a pair is no character.
	return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
