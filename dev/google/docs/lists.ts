import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { findParagraphs } from './edits.ts';
import { cutRuns, createInvalidError, readText, tidy, type Segment } from './segment.ts';

const levelCount = 9;
const indentPoints = 36;

type Level = docs_v1.Schema$NestingLevel;

const buildBullets = (...symbols: string[]) =>
	buildLevels((level) => ({
		glyphSymbol: symbols[level % symbols.length],
		glyphFormat: `%${level}`,
	}));
const buildNumbers = (...types: string[]) =>
	buildLevels((level) => ({
		glyphType: types[level % types.length],
		glyphFormat: `%${level}.`,
	}));

function buildLevels(look: (level: number) => Level): Level[] {
	return Array.from({ length: levelCount }, (_, level) => ({
		bulletAlignment: 'START',
		...look(level),
		indentFirstLine: { magnitude: indentPoints * level + indentPoints / 2, unit: 'PT' },
		indentStart: { magnitude: indentPoints * (level + 1), unit: 'PT' },
		textStyle: { underline: false },
		startNumber: 1,
	}));
}

const presets: Readonly<Record<string, Level[]>> = {
	BULLET_DISC_CIRCLE_SQUARE: buildBullets('●', '○', '■'),
	BULLET_CHECKBOX: buildLevels((level) => ({
		glyphType: 'GLYPH_TYPE_UNSPECIFIED',
		glyphFormat: `%${level}`,
	})),
	NUMBERED_DECIMAL_ALPHA_ROMAN: buildNumbers('DECIMAL', 'ALPHA', 'ROMAN'),
};

type Lists = Record<string, docs_v1.Schema$List>;

/** Leading tabs set the level and are removed. The preceding list continues if its preset is the same. */
export function createBullets(
	segment: Segment,
	start: number,
	end: number,
	{ bulletPreset }: docs_v1.Schema$CreateParagraphBulletsRequest,
	lists: Lists,
	newId: (prefix: string) => string,
): void {
	const nestingLevels = presets[bulletPreset ?? ''];
	if (nestingLevels === undefined)
		throw createInvalidError(`Invalid bullet preset: ${bulletPreset ?? ''}`);
	const touchedParagraphs = findParagraphs(segment, start, end);
	const previousEntry = segment.entries[(touchedParagraphs[0]?.entryIndex ?? 0) - 1];
	const previousId =
		previousEntry?.kind === 'paragraph' ? previousEntry.bullet?.listId : undefined;
	const continues = previousId !== undefined && looksTheSame(lists[previousId], nestingLevels);
	let listId = continues ? previousId : undefined;
	if (listId === undefined) {
		listId = newId('kix.');
		lists[listId] = { listProperties: { nestingLevels: structuredClone(nestingLevels) } };
	}
	for (const { paragraph } of touchedParagraphs) {
		const tabs = /^\t*/.exec(readText(paragraph))?.[0].length ?? 0;
		paragraph.runs.splice(0, cutRuns(paragraph, tabs));
		tidy(paragraph);
		const level = Math.min(tabs, levelCount - 1);
		paragraph.bullet = { listId, nestingLevel: level };
		paragraph.style.indentStart = nestingLevels[level]?.indentStart;
		paragraph.style.indentFirstLine = nestingLevels[level]?.indentFirstLine;
	}
}

function looksTheSame(list: docs_v1.Schema$List | undefined, nestingLevels: Level[]): boolean {
	const lookOf = (level: Level) => [level.glyphSymbol, level.glyphType, level.glyphFormat];
	const look = (levels: Level[]) => JSON.stringify(levels.map(lookOf));
	return look(list?.listProperties?.nestingLevels ?? []) === look(nestingLevels);
}

/** Removes the bullets. The paragraphs keep the indentation of their level. */
export function deleteBullets(segment: Segment, start: number, end: number): void {
	for (const { paragraph } of findParagraphs(segment, start, end)) {
		if (paragraph.bullet === undefined) continue;
		const indent = { magnitude: indentPoints * paragraph.bullet.nestingLevel, unit: 'PT' };
		paragraph.style.indentStart = indent;
		paragraph.style.indentFirstLine = indent;
		delete paragraph.bullet;
	}
}
