import type { IDataObject, INode } from 'n8n-workflow';

import { dropHalfCharacter, shorten } from './text';

/** Returns whether a model calls the node, as a tool of an AI agent or an MCP server. */
export const isTool = ({ type }: INode) => type.endsWith('Tool');

/**
 * The longest answer to a model, in characters of JSON. Whoever needs more asks for the next part.
 */
export const maxModelCharacters = 30_000;
/** The share of an answer for its note and for the hints that a person sees below the node. */
const noteCharacters = 2400;
/** What the note leaves for the hints. */
const hintCharacters = 200;
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
export type LongPart = { readonly name: string; readonly text: string } | LongList;

interface LongList {
	/**
	 * The key of the list. Without it, each entry is an item of its own, and there are no facts.
	 */
	readonly name?: string;
	readonly entries: readonly unknown[];
	/**
	 * The texts of entries may be cut to this length, one of `limits`, so that more entries have
	 * room. Without it, entries are whole.
	 */
	readonly minTextLength?: number;
}

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
	const fittingFacts = fitValue(facts, factCharacters);
	const shownFacts = isText(fittingFacts)
		? { facts: fittingFacts }
		: (fittingFacts as IDataObject);
	if ('text' in part) {
		const text = cutText(part.text, countRoomBeside(shownFacts, part.name));
		const note = describe(text.length, text.length < part.text.length);
		return { items: [{ ...shownFacts, [part.name]: text }], note };
	}
	const { name, entries } = part;
	const firstEntries = entries.slice(0, countShownEntries(part, shownFacts));
	const fittingEntries = fitValue(
		firstEntries,
		countRoomBeside(shownFacts, name),
		// Keeps all entries, because their number is what the note says.
		(limit) => firstEntries.map((entry) => shortenValue(entry, limit)),
	);
	const shownEntries = isText(fittingEntries) ? [fittingEntries] : fittingEntries;
	const isCut = firstEntries.length < entries.length || shownEntries !== firstEntries;
	const items = name === undefined ? shownEntries : [{ ...shownFacts, [name]: shownEntries }];
	return { items: items as IDataObject[], note: describe(firstEntries.length, isCut) };
}

/** Returns how many entries of a list `buildModelAnswer` shows: the first ones, at least one. */
export function countShownEntries(
	{ name, entries, minTextLength = Infinity }: LongList,
	shownFacts: IDataObject = {},
): number {
	// The list has two brackets of its own.
	let remainingRoom = countRoomBeside(shownFacts, name) - 2;
	const overflow = entries.findIndex((entry) => {
		remainingRoom -= measureValue(shortenValue(entry, minTextLength));
		return remainingRoom < 0;
	});
	return overflow === -1 ? entries.length : Math.max(1, overflow);
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
	const notes = note === undefined ? [] : [{ note }];
	if (shownItems !== items) notes.push({ note: 'What ends with … is shortened.' });
	const shownNotes = fitValue(notes, noteCharacters - hintCharacters);
	const hintNotes = hints.map((hint) => ({ note: hint }));
	const shownHints = fitValue(hintNotes, noteCharacters - measureValue(shownNotes));
	return [...toItems(shownItems), ...toItems(shownNotes), ...toItems(shownHints)];
}

const toItems = (value: unknown) =>
	Array.isArray(value) ? (value as IDataObject[]) : [{ answer: value as string }];

/** @returns the characters that the facts and the key of the long part leave for it */
const countRoomBeside = (shownFacts: IDataObject, name = '') =>
	contentCharacters - measureValue({ ...shownFacts, [name]: '' });

/** Counts the characters of a value in JSON, with the comma after it. */
const measureValue = (value: unknown) => JSON.stringify(value).length + 1;

const isText = (value: unknown) => typeof value === 'string';

/** How long texts and lists may be in a copy. The first copy that has room is shown. */
const limits = [20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5];
/** No text is cut shorter than this, because IDs must stay whole. */
const maxIdLength = 50;

/**
 * Returns a value whose JSON has at most `room` characters: the value itself, or a copy in which
 * long texts and lists are cut.
 */
function fitValue(
	value: unknown,
	room: number,
	shortenTo = (limit: number) => shortenValue(value, limit),
): unknown {
	if (measureValue(value) <= room) return value;
	for (const limit of limits) {
		const copy = shortenTo(limit);
		if (measureValue(copy) <= room) return copy;
	}
	// What is nested so widely, or has such long names, has no short form of its own.
	return `${cutText(JSON.stringify(value), room - 10)}…`;
}

/**
 * Copies a value. Cuts texts to a length, and lists and objects to as many entries.
 * @param budget how many parts are copied. More have no room in any answer, so that null stands for
 * them in a copy that is too long anyway
 */
function shortenValue(
	value: unknown,
	limit: number,
	budget = { parts: maxModelCharacters },
): unknown {
	if (budget.parts-- <= 0) return null;
	if (isText(value)) return shorten(value, Math.max(limit, maxIdLength));
	if (typeof value !== 'object' || value === null) return value;
	const shortenEntry = (entry: unknown) => shortenValue(entry, limit, budget);
	if (Array.isArray(value)) {
		const list = value.slice(0, limit).map(shortenEntry);
		if (value.length > limit) list.push(`… ${value.length - limit} more`);
		return list;
	}
	const names = Object.keys(value);
	const pairs = names
		.slice(0, limit)
		.map((name) => [name, shortenEntry((value as IDataObject)[name])]);
	if (names.length > limit) pairs.push(['…', `${names.length - limit} more`]);
	return Object.fromEntries(pairs) as unknown;
}

/** Cuts a text to the room that it may take in JSON. */
function cutText(text: string, room: number): string {
	let head = text.slice(0, room);
	// Line breaks, quotes and backslashes take more characters in JSON. With 0.99, each pass makes
	// the text at least one character shorter.
	while (head !== '' && measureValue(head) > room) {
		const share = Math.min(room / measureValue(head), 0.99);
		head = head.slice(0, Math.floor(head.length * share));
	}
	return head.length < text.length ? dropHalfCharacter(head) : text;
}
