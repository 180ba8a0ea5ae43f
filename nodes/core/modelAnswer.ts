import type { IDataObject } from 'n8n-workflow';

/** What a model gets from the node as a tool, in place of the output items. */
export interface ModelAnswer {
	readonly items: readonly IDataObject[];
	/** Says how many results there are, how many are shown, and which parameter continues. */
	readonly note?: string;
}

/** The longest answer to a model. Whoever needs more asks for the next part. */
export const maxModelCharacters = 30_000;

/** The room for a note, with the quotes and keys around it. */
const noteCharacters = 600;

/** Counts the characters of a value in JSON, with the comma after it. */
const measureValue = (value: unknown) => JSON.stringify(value).length + 1;

/** Returns how many characters of an answer remain if it also has a note and these values. */
export const countRoom = (...otherValues: unknown[]): number =>
	otherValues.reduce<number>(
		(room, value) => room - measureValue(value),
		maxModelCharacters - noteCharacters,
	);

/** Counts how many values, from the first one on, fit completely. */
export function countFitting(values: readonly unknown[], room: number): number {
	let remainingRoom = room;
	for (const [index, value] of values.entries()) {
		remainingRoom -= measureValue(value);
		if (remainingRoom < 0) return index;
	}
	return values.length;
}

/** Cuts a text to the room that it may take in JSON. Cuts after a line or a word, unless half of what fits would be lost. */
export function fitText(text: string, room: number): string {
	const measure = (end: number) => JSON.stringify(text.slice(0, end)).length;
	let end = Math.min(text.length, Math.max(0, room));
	// Line breaks, quotes and backslashes take more characters in JSON. With 0.99, each pass makes the text at least one character shorter.
	for (let length = measure(end); length > room && end > 0; length = measure(end))
		end = Math.floor(end * Math.min(room / length, 0.99));
	const head = text.slice(0, end);
	if (end === text.length) return head;
	const wordEnd = Math.max(head.lastIndexOf('\n'), head.lastIndexOf(' ')) + 1;
	// Half of a surrogate pair is no character.
	return wordEnd > end / 2 ? head.slice(0, wordEnd) : head.replace(/[\ud800-\udbff]$/, '');
}

/** Describes for a note which part of a text is shown. @param parameter the parameter that continues, in quotes, if there is one */
export function describePart(
	part: string,
	start: number,
	length: number,
	parameter?: string,
): string {
	const end = start + part.length;
	const note = `Characters ${start} to ${end} of ${length} are shown.`;
	if (end >= length || parameter === undefined) return note;
	return `${note} To get what follows, call again with ${parameter}: ${end}.`;
}
