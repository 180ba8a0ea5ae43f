/** A parser pads short rows, so a header with many columns makes every line below it just as long. */
const maxCells = 200_000;
/** Each use of a link repeats its whole address. */
const maxAddressCharacters = 20_000_000;

const delimiterRow = /^[\s>]*[-:|][-:|\s]*$/;

/**
 * Returns the text unchanged unless the result would be many times as long.
 * @throws Error before memory is used for it
 */
export function proportionate(markdown: string): string {
	const lines = markdown.split('\n');
	let cells = 0;
	let columns = 0;
	let stretch = 0;
	let longest = 0;
	for (const line of lines) {
		const isBlank = line.trim() === '';
		if (isBlank) columns = 0;
		else if (delimiterRow.test(line)) columns = Math.max(columns, line.split('|').length);
		cells += columns > 1 ? columns : 0;
		stretch = isBlank ? 0 : stretch + line.length;
		longest = Math.max(longest, stretch);
	}
	const mentions = markdown.includes(']:') ? markdown.split(']').length : 0;
	if (cells > maxCells || longest * mentions > maxAddressCharacters + 40 * markdown.length)
		throw new Error('The result would be many times as long as the text');
	return markdown;
}
