import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { Span } from '../../../untrusted/document/blocks';
import { isParagraph, type Layout, type PlacedParagraph, type PlacedTable } from './layout';
import { alignmentOf, resetParagraphFields, resetTextFields, spacing, styleOf, textStyleOf } from './looks';

type Request = docs_v1.Schema$Request;
type RangeOf = (startIndex: number, endIndex: number) => docs_v1.Schema$Range;

export interface Target {
	/** Inside a paragraph, at the end of its text. */
	readonly index: number;
	readonly tabId: string | undefined;
	/** Whether the first paragraph goes on in the one at the index and keeps that one's look. */
	readonly continues: boolean;
	/** Whether the paragraph at the index has a look of its own, which new paragraphs would take over. */
	readonly styled: boolean;
}

export function resetRequests(range: docs_v1.Schema$Range): Request[] {
	const normal = { namedStyleType: 'NORMAL_TEXT' };
	return [
		{ deleteParagraphBullets: { range } },
		{ updateParagraphStyle: { range, paragraphStyle: normal, fields: resetParagraphFields } },
		{ updateTextStyle: { range, textStyle: {}, fields: resetTextFields } },
	];
}

/** Styles of paragraphs and text; they move nothing. */
export function lookRequests({ placed, end }: Layout, target: Target, range: RangeOf): Request[] {
	const all = placed.filter(isParagraph);
	const paragraphs = target.continues ? all.slice(1) : all;
	const begin = all[0]?.start ?? end;
	const from = paragraphs[0]?.start ?? end;
	const requests: Request[] = [];
	if (target.styled && from < end) requests.push(...resetRequests(range(from, end)));
	if (target.styled && begin < from) {
		requests.push({
			updateTextStyle: { range: range(begin, Math.min(from, end)), textStyle: {}, fields: resetTextFields },
		});
	}
	requests.push(
		...spacingRequests(paragraphs, range),
		...paragraphs.flatMap((one) => paragraphLook(one, range)),
	);
	for (const one of placed) {
		if (isParagraph(one)) requests.push(...spanLooks(one.block.spans, one.start, range));
		else requests.push(...cellLooks(one, range));
	}
	return requests;
}

/** One request for each stretch between tables. */
function spacingRequests(paragraphs: readonly PlacedParagraph[], range: RangeOf): Request[] {
	const stretches: Array<{ start: number; end: number }> = [];
	for (const { start, end } of paragraphs) {
		const last = stretches.at(-1);
		if (last !== undefined && last.end + 1 === start) last.end = end;
		else stretches.push({ start, end });
	}
	const fields = Object.keys(spacing).join(',');
	return stretches
		.filter(({ start, end }) => start < end)
		.map(({ start, end }) => ({
			updateParagraphStyle: { range: range(start, end), paragraphStyle: spacing, fields },
		}));
}

function paragraphLook({ block, start, end }: PlacedParagraph, range: RangeOf): Request[] {
	const paragraphStyle = styleOf(block);
	if (paragraphStyle === undefined || (block.list !== undefined && !block.list.bullet)) return [];
	const fields = Object.keys(paragraphStyle).join(',');
	return [
		{ updateParagraphStyle: { range: range(start, Math.max(end, start + 1)), paragraphStyle, fields } },
	];
}

function spanLooks(spans: readonly Span[], start: number, range: RangeOf): Request[] {
	let at = start;
	return spans.flatMap(({ text, marks }) => {
		const from = at;
		at += text.length;
		const textStyle = textStyleOf(marks);
		if (textStyle === undefined || text === '') return [];
		return [
			{ updateTextStyle: { range: range(from, at), textStyle, fields: Object.keys(textStyle).join(',') } },
		];
	});
}

/** A table's first row is its header. */
function cellLooks({ block, cells }: PlacedTable, range: RangeOf): Request[] {
	return block.rows.flatMap((row, rowAt) =>
		row.flatMap((spans, columnAt) => {
			const start = cells[rowAt]?.[columnAt] ?? 0;
			const shown =
				rowAt > 0 ? spans : spans.map(({ text, marks }) => ({ text, marks: { ...marks, bold: true } }));
			const paragraphStyle = alignmentOf(block.alignments[columnAt]);
			const aligned = paragraphStyle && {
				updateParagraphStyle: { range: range(start, start + 1), paragraphStyle, fields: 'alignment' },
			};
			return [...(aligned ? [aligned] : []), ...spanLooks(shown, start, range)];
		}),
	);
}
