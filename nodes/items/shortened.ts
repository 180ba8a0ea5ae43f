/** The beginning of a text that comes from outside, for a message or a hint. @param length in UTF-16 units */
export function shortened(text: string, length = 100): string {
	return text.length > length ? `${text.slice(0, length)}…` : text;
}
