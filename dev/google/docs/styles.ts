import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { findParagraphs } from './edits.ts';
import { cutRuns, createInvalidError, tidy, type Segment } from './segment.ts';

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

function listFields<K extends string>(
	mask: string | null | undefined,
	knownFields: readonly K[],
): readonly K[] {
	if (mask === undefined || mask === null || mask === '')
		throw createInvalidError('At least one field must be listed in fields.');
	if (mask === '*') return knownFields;
	return mask.split(',').map((name) => {
		const field = knownFields.find((knownField) => knownField === name.trim());
		if (field === undefined) throw createInvalidError(`Invalid field: ${name}`);
		return field;
	});
}

/** A listed field without a value is reset to its default. */
function applyFields<T extends object>(target: T, source: T, fields: ReadonlyArray<keyof T>): T {
	const oldEntries = Object.entries(target).filter(
		([name]) => !fields.some((field) => field === name),
	);
	const newEntries = Object.entries(source).filter(([name]) =>
		fields.some((field) => field === name),
	);
	return Object.fromEntries([...oldEntries, ...newEntries]) as T;
}

export function updateTextStyle(
	segment: Segment,
	start: number,
	end: number,
	{ fields, textStyle }: docs_v1.Schema$UpdateTextStyleRequest,
): void {
	const listedFields = listFields(fields, textFields);
	const style: docs_v1.Schema$TextStyle = { ...textStyle };
	for (const { paragraph, startOffset, endOffset } of findParagraphs(segment, start, end)) {
		const firstRun = cutRuns(paragraph, startOffset);
		const endRun = cutRuns(paragraph, endOffset);
		for (const run of paragraph.runs.slice(firstRun, endRun)) {
			run.style = applyFields(run.style, style, listedFields);
			if (listedFields.includes('link'))
				styleLink(run.style, listedFields, style.link !== undefined);
		}
		tidy(paragraph);
	}
}

/** Setting or clearing a link also changes its usual style, unless the style is listed too. */
function styleLink(
	style: docs_v1.Schema$TextStyle,
	listed: readonly string[],
	isSet: boolean,
): void {
	if (!listed.includes('underline')) {
		if (isSet) style.underline = true;
		else delete style.underline;
	}
	if (!listed.includes('foregroundColor')) {
		if (isSet)
			style.foregroundColor = {
				color: { rgbColor: { blue: 0.8, green: 0.33333334, red: 0.06666667 } },
			};
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
	const listedFields = listFields(fields, paragraphFields);
	for (const { paragraph } of findParagraphs(segment, start, end)) {
		paragraph.style = applyFields(paragraph.style, { ...paragraphStyle }, listedFields);
		paragraph.style.namedStyleType ??= 'NORMAL_TEXT';
		if (paragraph.style.namedStyleType.startsWith('HEADING_'))
			paragraph.style.headingId ??= newId('h.');
		else delete paragraph.style.headingId;
	}
}
