import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

export interface Glyph {
	/** As displayed: `●`, `3.`, `b)`. */
	readonly text: string;
	/** From 0. */
	readonly level: number;
	readonly ordered: boolean;
	readonly number: number;
}

const defaultSymbol = '•';
/** Docs has nine levels. What stands in for Google may send any number. */
const deepestLevel = 8;
/** Characters. Docs' own formats have at most five, and each item repeats them. */
const longestFormat = 50;

/**
 * Numbers the items of lists in reading order, because Google gives the format of a glyph, not the glyph
 * itself.
 */
export class Glyphs {
	private readonly lists: Readonly<Record<string, docs_v1.Schema$List>>;
	private readonly counts = new Map<string, number[]>();

	constructor(tab: docs_v1.Schema$DocumentTab) {
		this.lists = tab.lists ?? {};
	}

	next(bullet: docs_v1.Schema$Bullet): Glyph {
		const listId = bullet.listId ?? '';
		const level = Math.min(Math.max(0, Math.trunc(bullet.nestingLevel ?? 0)), deepestLevel);
		const levels = this.lists[listId]?.listProperties?.nestingLevels ?? [];
		const counts = this.counts.get(listId) ?? [];
		const start = (at: number) => levels[at]?.startNumber ?? 1;
		const number = (counts[level] ?? start(level) - 1) + 1;
		const before = Array.from({ length: level }, (_, at) => counts[at] ?? start(at));
		this.counts.set(listId, [...before, number]);
		const own = levels[level];
		const ordered = isNumbered(own);
		if (!ordered) return { text: short(own?.glyphSymbol) || defaultSymbol, level, ordered, number };
		const shown = [...before, number].map((count, at) => numeral(count, levels[at]?.glyphType ?? 'DECIMAL'));
		const format = short(own?.glyphFormat) ?? `%${level}.`;
		return {
			text: format.replace(/%(\d)/g, (_, at: string) => shown[Number(at)] ?? ''),
			level,
			ordered,
			number,
		};
	}
}

function short(text: string | null | undefined): string | undefined {
	return text && text.length <= longestFormat ? text : undefined;
}

function isNumbered(level: docs_v1.Schema$NestingLevel | undefined): boolean {
	const type = level?.glyphType ?? 'NONE';
	return type !== 'NONE' && type !== 'GLYPH_TYPE_UNSPECIFIED';
}

/**
 * Above these counts, letters and Roman numerals are unreadably long, such as 30 times 'z' or 3 times 'm'.
 */
const mostLetters = 780;
const mostRoman = 3999;

function numeral(count: number, type: string): string {
	const most = type.endsWith('ROMAN') ? mostRoman : type.endsWith('ALPHA') ? mostLetters : Infinity;
	if (count < 1 || count > most) return String(count);
	switch (type) {
		case 'ZERO_DECIMAL':
			return String(count).padStart(2, '0');
		case 'ALPHA':
			return letters(count);
		case 'UPPER_ALPHA':
			return letters(count).toUpperCase();
		case 'ROMAN':
			return roman(count);
		case 'UPPER_ROMAN':
			return roman(count).toUpperCase();
		default:
			return String(count);
	}
}

/** a … z, aa … zz, aaa …, as Docs counts. */
function letters(count: number): string {
	const letter = String.fromCharCode(97 + ((count - 1) % 26));
	return letter.repeat(Math.ceil(count / 26));
}

/** The digits 0 to 9 in signs for one, five and ten. */
const romanDigits = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix'];
const romanSigns = ['ivx', 'xlc', 'cdm', 'm'];

function roman(count: number): string {
	const digits = Array.from(String(count), Number).toReversed();
	const written = digits.map((digit, place) =>
		(romanDigits[digit] ?? '').replaceAll(/[ivx]/g, (sign) => romanSigns[place]?.['ivx'.indexOf(sign)] ?? ''),
	);
	return written.toReversed().join('');
}
