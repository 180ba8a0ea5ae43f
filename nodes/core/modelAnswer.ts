import type { IDataObject, INode } from 'n8n-workflow';

import { shorten } from './text';

/** Returns whether a model calls the node, as a tool of an AI agent or an MCP server. */
export const isTool = ({ type }: INode) => type.endsWith('Tool');

/**
 * The longest answer to a model, in characters of JSON. Whoever needs more asks for the next part.
 */
export const maxModelCharacters = 30_000;
/** The share of an answer for its note and for the hints that a person sees below the node. */
const noteCharacters = 2000;
const contentCharacters = maxModelCharacters - noteCharacters;
/**
 * The share of an answer for the facts. The rest is for the long part, which therefore always has
 * room.
 */
const factCharacters = 12_000;

/** What a model gets from the node as a tool, in place of the output items. */
export interface ModelAnswer {
	readonly items: readonly IDataObject[];
	/** Says how much there is, how much is shown, and which parameter continues. */
	readonly note?: string;
}

/** The part of a result that may be long: a text, or a list of rows, emails and the like. */
export type LongPart =
	| { readonly name: string; readonly text: string }
	| {
			/**
			 * The key of the list. Without it, each entry is an item of its own, and there are no
			 * facts.
			 */
			readonly name?: string;
			readonly entries: readonly unknown[];
			/**
			 * The texts of entries may be cut to this length, so that more entries have room.
			 * Without it, entries are whole.
			 */
			readonly minTextLength?: number;
	  };

/**
 * Builds the answer to a model: all facts, and as much of the long part as has room. Everything
 * else is cut, with a mark (…): a long name or title among the facts, a long list of them, and an
 * entry that alone has no room. So a part of each thing is shown, at least one entry or thousands
 * of characters of the text are, and a model that continues as `describe` says always moves on.
 * @param describe builds the note. It gets how many entries or characters are shown, and whether
 * something of the long part is not
 */
export function buildModelAnswer(
	facts: IDataObject,
	part: LongPart,
	describe: (shownCount: number, isCut: boolean) => string | undefined,
): ModelAnswer {
	const shownFacts = fitFacts(facts);
	if ('text' in part) {
		const shownText = fitText(part.text, countRoomBeside(shownFacts, part.name));
		const note = describe(shownText.length, shownText.length < part.text.length);
		return { items: [{ ...shownFacts, [part.name]: shownText }], note };
	}
	const { shownEntries, isCut } = fitEntries(part, shownFacts);
	const entries = shownEntries as IDataObject[];
	const items = part.name === undefined ? entries : [{ ...shownFacts, [part.name]: entries }];
	return { items, note: describe(entries.length, isCut) };
}

/**
 * Returns the first entries of a list, as `buildModelAnswer` shows them, and whether one is left
 * out or cut.
 */
export function fitEntries(
	{ name = '', entries, minTextLength = Infinity }: Extract<LongPart, { entries: unknown }>,
	shownFacts: IDataObject = {},
): { shownEntries: unknown[]; isCut: boolean } {
	const room = countRoomBeside(shownFacts, name);
	// The list has two brackets of its own.
	let remainingRoom = room - 2;
	const overflow = entries.findIndex((entry) => {
		remainingRoom -= measureValue(shortenValue(entry, minTextLength));
		return remainingRoom < 0;
	});
	const firstEntries = overflow === -1 ? entries : entries.slice(0, Math.max(1, overflow));
	const shownEntries = fitValue(firstEntries, room) as unknown[];
	return { shownEntries, isCut: shownEntries !== entries };
}

function fitFacts(facts: IDataObject): IDataObject {
	const shownFacts = fitValue(facts, factCharacters);
	return typeof shownFacts === 'string' ? { facts: shownFacts } : (shownFacts as IDataObject);
}

/**
 * Completes an answer with the hints that a person sees below the node. Cuts whatever was not built
 * by `buildModelAnswer`.
 */
export function completeModelAnswer(
	{ items, note }: ModelAnswer,
	hints: readonly string[],
): IDataObject[] {
	const shownItems = fitValue(items, contentCharacters);
	const texts = note === undefined ? [] : [note];
	if (shownItems !== items) texts.push('What ends with … is shortened.');
	const notes = [...texts, ...hints].map((text) => ({ note: text }));
	return [...toItems(shownItems), ...toItems(fitValue(notes, noteCharacters))];
}

const toItems = (value: unknown) =>
	Array.isArray(value) ? (value as IDataObject[]) : [{ answer: value as string }];

/**
 * @returns the characters that the facts and the key of the long part leave for it, with some to
 * spare for brackets
 */
const countRoomBeside = (facts: IDataObject, name: string) =>
	contentCharacters - measureValue(facts) - measureValue(name) - 10;

/** Counts the characters of a value in JSON, with the comma after it. */
const measureValue = (value: unknown) => JSON.stringify(value).length + 1;

/** No text is cut shorter than this. Where that is not enough, lists are cut. */
const minCutLength = 30;
const entryLimits = [10_000, 3000, 1000, 300, 100, 30, 10, 3];

/**
 * Returns a value whose JSON has at most `room` characters: the value itself, or a copy in which
 * long texts, names and lists are cut.
 */
function fitValue(value: unknown, room: number): unknown {
	if (measureValue(value) <= room) return value;
	for (const maxEntries of entryLimits) {
		const build = (maxLength: number) => shortenValue(value, maxLength, maxEntries);
		if (measureValue(build(minCutLength)) > room) continue;
		let fittingLength = minCutLength;
		for (let step = room; step >= 1; step = Math.floor(step / 2))
			if (measureValue(build(fittingLength + step)) <= room) fittingLength += step;
		return build(fittingLength);
	}
	// What is nested so widely has no short form of its own.
	return `${fitText(JSON.stringify(value), room - 10)}…`;
}

/**
 * Copies a value. Cuts texts and the names of keys to a length, and lists and objects to a number
 * of entries.
 * @param budget how many parts are copied. More have no room in any answer, so that null stands for
 * them in a copy that is too long anyway
 */
function shortenValue(
	value: unknown,
	maxLength: number,
	maxEntries = maxModelCharacters,
	budget = { parts: maxModelCharacters },
): unknown {
	if (budget.parts-- <= 0) return null;
	if (typeof value === 'string') return shorten(value, maxLength);
	if (typeof value !== 'object' || value === null) return value;
	const entries: readonly unknown[] = Array.isArray(value) ? value : Object.keys(value);
	const shownEntries = entries.slice(0, maxEntries);
	const hiddenCount = entries.length - shownEntries.length;
	const shortenEntry = (entry: unknown) => shortenValue(entry, maxLength, maxEntries, budget);
	if (Array.isArray(value)) {
		const list = shownEntries.map(shortenEntry);
		return hiddenCount > 0 ? [...list, `… ${hiddenCount} more`] : list;
	}
	const copy = new Map<string, unknown>();
	for (const [index, name] of (shownEntries as string[]).entries()) {
		const shownName = shorten(name, maxLength);
		// Several long names may begin alike.
		const uniqueName = copy.has(shownName) ? `${shownName} ${index + 1}` : shownName;
		copy.set(uniqueName, shortenEntry((value as IDataObject)[name]));
	}
	if (hiddenCount > 0) copy.set('…', `${hiddenCount} more`);
	return Object.fromEntries(copy);
}

/**
 * Cuts a text to the room that it may take in JSON. Cuts after a line or a word, unless half of
 * what fits would be lost.
 */
function fitText(text: string, room: number): string {
	const measure = (end: number) => JSON.stringify(text.slice(0, end)).length;
	let end = Math.min(text.length, Math.max(0, room));
	// Line breaks, quotes and backslashes take more characters in JSON. With 0.99, each pass makes
	// the text at least one character shorter.
	for (let length = measure(end); length > room && end > 0; length = measure(end))
		end = Math.floor(end * Math.min(room / length, 0.99));
	const head = text.slice(0, end);
	if (end === text.length) return head;
	const wordEnd = Math.max(head.lastIndexOf('\n'), head.lastIndexOf(' ')) + 1;
	// Half of a surrogate pair is no character.
	return wordEnd > end / 2 ? head.slice(0, wordEnd) : head.replace(/[\ud800-\udbff]$/, '');
}
