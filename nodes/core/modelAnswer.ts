import type { IDataObject } from 'n8n-workflow';

/** What a model gets from the node as a tool, in place of the output items. */
export interface ModelAnswer {
	readonly items: readonly IDataObject[];
	/** How many there are, how many are shown, and which parameter continues. */
	readonly note?: string;
}

/** What a note needs of an answer's size, with the quotes and keys around it. */
const noteCharacters = 600;

/** What is left of an answer's size beside these values and the note. */
export const countRoom = (characters: number, ...beside: unknown[]): number =>
	beside.reduce<number>(
		(left, value) => left - JSON.stringify(value).length - 1,
		characters - noteCharacters,
	);

/** How many of the first values fit, whole. */
export function countFitting(values: readonly unknown[], room: number): number {
	let left = room;
	const end = values.findIndex((value) => (left -= JSON.stringify(value).length + 1) < 0);
	return end === -1 ? values.length : end;
}

/** The beginning of a text that fits. It ends with a line or a word. */
export function fitText(text: string, room: number): string {
	const measure = (end: number) => JSON.stringify(text.slice(0, end)).length;
	let end = Math.min(text.length, Math.max(0, room));
	// Lines, quotes and backslashes take more characters in JSON.
	for (let size = measure(end); size > room && end > 0; size = measure(end)) {
		end = Math.floor(end * Math.min(room / size, 0.99));
	}
	const start = text.slice(0, end);
	if (end === text.length) return start;
	const gap = Math.max(start.lastIndexOf('\n'), start.lastIndexOf(' ')) + 1;
	// Half of a surrogate pair is no character.
	return gap > end / 2 ? start.slice(0, gap) : start.replace(/[\ud800-\udbff]$/, '');
}

/** What a note says of the part of a text that is shown. @param name the parameter that continues, in quotes, if there is one */
export function describePart(shown: string, start: number, whole: number, name?: string): string {
	const end = start + shown.length;
	const part = `Characters ${start} to ${end} of ${whole} are shown.`;
	return end < whole && name !== undefined
		? `${part} To get what follows, call again with ${name}: ${end}.`
		: part;
}
