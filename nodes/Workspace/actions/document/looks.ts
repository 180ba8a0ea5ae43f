import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { Alignment, Marks, ParagraphBlock } from '../../../untrusted/document/blocks';
import { listIndentPoints, ownSpacing, quoteIndentPoints } from '../../../untrusted/document/indents';

const points = (magnitude: number): docs_v1.Schema$Dimension => ({ magnitude, unit: 'PT' });
const grey = (share: number): docs_v1.Schema$OptionalColor => ({
	color: { rgbColor: { red: share, green: share, blue: share } },
});
const border = (width: number, padding: number): docs_v1.Schema$ParagraphBorder => ({
	color: grey(0.8),
	dashStyle: 'SOLID',
	padding: points(padding),
	width: points(width),
});

const codeFont = 'Courier New';

export const spacing: docs_v1.Schema$ParagraphStyle = {
	spaceBelow: points(ownSpacing.pointsBelow),
	spacingMode: ownSpacing.mode,
};

export function indent(indentPoints: number): docs_v1.Schema$ParagraphStyle {
	return { indentStart: points(indentPoints), indentFirstLine: points(indentPoints) };
}

/** Paragraph style of a block; undefined for plain text. */
export function styleOf({
	look,
	quoteDepth,
	list,
}: ParagraphBlock): docs_v1.Schema$ParagraphStyle | undefined {
	const style: docs_v1.Schema$ParagraphStyle = {};
	if (typeof look === 'number') style.namedStyleType = `HEADING_${look}`;
	if (look === 'code') style.shading = { backgroundColor: grey(0.95) };
	if (look === 'rule') style.borderBottom = border(1, 1);
	if (quoteDepth > 0) style.borderLeft = border(3, 6);
	const listPoints = list === undefined ? 0 : listIndentPoints * (list.level + 1);
	const indentPoints = listPoints + quoteIndentPoints * quoteDepth;
	if (list?.bullet !== true && indentPoints > 0) Object.assign(style, indent(indentPoints));
	return Object.keys(style).length > 0 ? style : undefined;
}

/** Text style of marks; undefined for none. */
export function textStyleOf(marks: Marks): docs_v1.Schema$TextStyle | undefined {
	const style: docs_v1.Schema$TextStyle = {};
	if (marks.bold) style.bold = true;
	if (marks.italic) style.italic = true;
	if (marks.strikethrough) style.strikethrough = true;
	if (marks.code) style.weightedFontFamily = { fontFamily: codeFont, weight: 400 };
	if (marks.link !== undefined) style.link = { url: marks.link };
	return Object.keys(style).length > 0 ? style : undefined;
}

export function alignmentOf(alignment: Alignment | undefined): docs_v1.Schema$ParagraphStyle | undefined {
	if (alignment === 'center') return { alignment: 'CENTER' };
	if (alignment === 'right') return { alignment: 'END' };
	return undefined;
}

// All that can be set but `direction`, which is the language's, and `pageBreakBefore`, which some places refuse.
export const resetParagraphFields = [
	'namedStyleType',
	'alignment',
	'lineSpacing',
	'spacingMode',
	'spaceAbove',
	'spaceBelow',
	'borderBetween',
	'borderTop',
	'borderBottom',
	'borderLeft',
	'borderRight',
	'indentFirstLine',
	'indentStart',
	'indentEnd',
	'keepLinesTogether',
	'keepWithNext',
	'avoidWidowAndOrphan',
	'shading',
].join(',');

export const resetTextFields = [
	'bold',
	'italic',
	'underline',
	'strikethrough',
	'smallCaps',
	'backgroundColor',
	'foregroundColor',
	'fontSize',
	'weightedFontFamily',
	'baselineOffset',
	'link',
].join(',');
