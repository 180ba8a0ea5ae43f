/** A part of a text, in UTF-16 units. */
export interface Range {
	readonly start: number;
	readonly end: number;
}

/**
 * A text in some decoded form, and for each of its UTF-16 units the range of the original text that it came
 * from.
 */
export interface View {
	readonly text: string;
	readonly places: readonly Range[];
}

/** Limit for text that was escaped repeatedly. */
const maxLevels = 3;

const escape =
	/%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});?|&#(\d{1,7});?|&(amp|lt|gt|quot|apos);|\\(["'\\/])/gi;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The text itself, then with its percent, JSON and HTML escapes decoded, and so on while there are escapes
 * left.
 */
export function viewsOf(text: string): View[] {
	let view: View = {
		text,
		places: Array.from({ length: text.length }, (_, at) => ({ start: at, end: at + 1 })),
	};
	const views = [view];
	for (let level = 1; level <= maxLevels; level++) {
		const next = unescaped(view);
		if (next.text === view.text) break;
		views.push(next);
		view = next;
	}
	return views;
}

function unescaped({ text, places }: View): View {
	const pieces: string[] = [];
	const all: Range[] = [];
	let done = 0;
	const keep = (end: number) => {
		pieces.push(text.slice(done, end));
		for (let at = done; at < end; at++) all.push(places[at] ?? nowhere);
		done = end;
	};
	for (const match of text.matchAll(escape)) {
		keep(match.index);
		const character = characterOf(match);
		const end = match.index + match[0].length;
		const range = { start: (places[done] ?? nowhere).start, end: (places[end - 1] ?? nowhere).end };
		pieces.push(character);
		for (let unit = 0; unit < character.length; unit++) all.push(range);
		done = end;
	}
	keep(text.length);
	return { text: pieces.join(''), places: all };
}

const nowhere: Range = { start: 0, end: 0 };

/** A percent-escaped byte is decoded as a single character, because needles also exist in that form. */
function characterOf([, percent, u, x, hex, decimal, entity = '', plain = '']: RegExpExecArray): string {
	const hexadecimal = percent ?? u ?? x ?? hex;
	const code = hexadecimal === undefined ? Number(decimal ?? NaN) : parseInt(hexadecimal, 16);
	if (Number.isNaN(code)) return entities[entity.toLowerCase()] ?? plain;
	return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}
