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
	const isListed = ([name]: [string, unknown]) => fields.some((field) => field === name);
	const kept = Object.entries(target).filter((entry) => !isListed(entry));
	return Object.fromEntries([...kept, ...Object.entries(source).filter(isListed)]) as T;
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
	const linkColor = { color: { rgbColor: { blue: 0.8, green: 0.33333334, red: 0.06666667 } } };
	const linkStyle = { underline: true, foregroundColor: linkColor };
	for (const name of ['underline', 'foregroundColor'] as const) {
		if (listed.includes(name)) continue;
		if (isSet) Object.assign(style, { [name]: linkStyle[name] });
		else Reflect.deleteProperty(style, name);
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
