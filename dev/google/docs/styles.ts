import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { paragraphsIn } from './edits.ts';
import { cutRuns, invalid, tidy, type Segment } from './segment.ts';

const textFields = [
	'backgroundColor',
	'baselineOffset',
	'bold',
	'fontSize',
	'foregroundColor',
	'italic',
	'link',
	'smallCaps',
	'strikethrough',
	'underline',
	'weightedFontFamily',
] as const satisfies ReadonlyArray<keyof docs_v1.Schema$TextStyle>;

const paragraphFields = [
	'alignment',
	'avoidWidowAndOrphan',
	'borderBetween',
	'borderBottom',
	'borderLeft',
	'borderRight',
	'borderTop',
	'direction',
	'indentEnd',
	'indentFirstLine',
	'indentStart',
	'keepLinesTogether',
	'keepWithNext',
	'lineSpacing',
	'namedStyleType',
	'pageBreakBefore',
	'shading',
	'spaceAbove',
	'spaceBelow',
	'spacingMode',
] as const satisfies ReadonlyArray<keyof docs_v1.Schema$ParagraphStyle>;

function named<K extends string>(mask: string | null | undefined, known: readonly K[]): readonly K[] {
	if (mask === undefined || mask === null || mask === '')
		throw invalid('At least one field must be listed in fields.');
	if (mask === '*') return known;
	return mask.split(',').map((name) => {
		const field = known.find((one) => one === name.trim());
		if (field === undefined) throw invalid(`Invalid field: ${name}`);
		return field;
	});
}

/** A listed field without a value is reset to its default. */
function withFields<T extends object>(target: T, source: T, fields: ReadonlyArray<keyof T>): T {
	const kept = Object.entries(target).filter(([name]) => !fields.some((field) => field === name));
	const given = Object.entries(source).filter(([name]) => fields.some((field) => field === name));
	return Object.fromEntries([...kept, ...given]) as T;
}

export function updateTextStyle(
	segment: Segment,
	start: number,
	end: number,
	{ fields, textStyle }: docs_v1.Schema$UpdateTextStyleRequest,
): void {
	const listed = named(fields, textFields);
	const style: docs_v1.Schema$TextStyle = { ...textStyle };
	for (const { paragraph, from, to } of paragraphsIn(segment, start, end)) {
		const first = cutRuns(paragraph, from);
		const last = cutRuns(paragraph, to);
		for (const run of paragraph.runs.slice(first, last)) {
			run.style = withFields(run.style, style, listed);
			if (listed.includes('link')) lookOfLink(run.style, listed, style.link !== undefined);
		}
		tidy(paragraph);
	}
}

/** Setting or clearing a link also changes its usual style, unless the style is listed too. */
function lookOfLink(style: docs_v1.Schema$TextStyle, listed: readonly string[], set: boolean): void {
	if (!listed.includes('underline')) {
		if (set) style.underline = true;
		else delete style.underline;
	}
	if (!listed.includes('foregroundColor')) {
		if (set)
			style.foregroundColor = { color: { rgbColor: { blue: 0.8, green: 0.33333334, red: 0.06666667 } } };
		else delete style.foregroundColor;
	}
}

export function updateParagraphStyle(
	segment: Segment,
	start: number,
	end: number,
	{ fields, paragraphStyle }: docs_v1.Schema$UpdateParagraphStyleRequest,
	newId: (prefix: string) => string,
): void {
	const listed = named(fields, paragraphFields);
	for (const { paragraph } of paragraphsIn(segment, start, end)) {
		paragraph.style = withFields(paragraph.style, { ...paragraphStyle }, listed);
		paragraph.style.namedStyleType ??= 'NORMAL_TEXT';
		if (paragraph.style.namedStyleType.startsWith('HEADING_')) paragraph.style.headingId ??= newId('h.');
		else delete paragraph.style.headingId;
	}
}
