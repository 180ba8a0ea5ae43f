import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { textOf, type Content, type ParagraphBlock, type Span } from '../../../untrusted/document/blocks';
import { emptyCell, isParagraph, layOut, type Layout, type PlacedTable } from './layout';
import { listRequests } from './listRequests';
import { lookRequests, resetRequests, type Target } from './lookRequests';
import { styleOf } from './looks';

type Request = docs_v1.Schema$Request;

export interface Plan {
	readonly requests: readonly Request[];
	/** Addresses of the pictures, by the position of their requests. */
	readonly pictures: ReadonlyMap<number, string>;
	/** What the text of the segment reads from the index on, its final newline included. */
	readonly text: string;
	/** UTF-16 units of text that go in. */
	readonly characterCount: number;
	/** By how much the segment's end moves, table structure included. */
	readonly units: number;
}

/** Inserts nothing. */
export const emptyPlan: Plan = {
	requests: [],
	pictures: new Map(),
	text: '',
	characterCount: 0,
	units: 0,
};

/** Plain text, exactly as it is; where the old look must go, in paragraphs without any. */
export function planText(text: string, { index, tabId, styled }: Omit<Target, 'continues'>): Plan {
	const range = (startIndex: number, endIndex: number) => ({ startIndex, endIndex, tabId });
	const end = index + text.length;
	const filled = styled && /(?:^|\n)$/.test(text) ? `${text}${placeholder}` : text;
	const requests: Request[] = [];
	if (filled !== '') requests.push({ insertText: { text: filled, location: { index, tabId } } });
	if (styled) requests.push(...resetRequests(range(index, index + filled.length)));
	if (filled !== text) requests.push({ deleteContentRange: { range: range(end, end + 1) } });
	return {
		requests,
		pictures: new Map(),
		text: `${text}\n`,
		characterCount: text.length,
		units: text.length,
	};
}

/**
 * Real headings, lists, tables and styles. Every index is the one that counts when its request's turn comes: first the text of
 * all paragraphs, then the tables from the last to the first, then looks, which move nothing.
 */
export function planContent(content: Content, target: Target): Plan {
	const { closed, filled } = closeEmptyEnd(content, target);
	const layout = layOut(closed, target.index);
	const { tabId } = target;
	const range = (startIndex: number, endIndex: number) => ({ startIndex, endIndex, tabId });
	const requests: Request[] = [];
	if (layout.text !== '') {
		requests.push({ insertText: { text: layout.text, location: { index: target.index, tabId } } });
	}
	const tables = layout.placed.filter((one): one is PlacedTable => !isParagraph(one));
	for (const table of tables.toReversed()) requests.push(...tableRequests(table, tabId));
	requests.push(...lookRequests(layout, target, range), ...listRequests(layout, range, tabId));
	if (filled) requests.push({ deleteContentRange: { range: range(layout.end - 1, layout.end) } });
	const placed = picturesIn(layout);
	const pictures = new Map<number, string>();
	for (const { start, end, address } of placed.toReversed()) {
		requests.push({ deleteContentRange: { range: range(start, end) } });
		pictures.set(requests.length, address);
		requests.push({ insertInlineImage: { uri: address, location: { index: start, tabId } } });
	}
	const replaced = placed.reduce((sum, { start, end }) => sum + end - start, 0);
	const extra = filled ? placeholder.length : 0;
	const cells = tables.flatMap(({ block }) => block.rows.flat().map(textOf));
	const text = plainText(layout);
	return {
		requests,
		pictures,
		text: filled ? text.replace(/.\n$/, '\n') : text,
		characterCount: layout.text.length + cells.join('').length - extra - replaced,
		units: layout.end - target.index - extra - replaced + placed.length,
	};
}

/** No range may hold a segment's last newline: to get a look, an empty last paragraph has a letter for a while. */
const placeholder = '.';

function closeEmptyEnd(content: Content, { styled }: Target): { closed: Content; filled: boolean } {
	const last = content.blocks.at(-1);
	const afterTable = last?.kind !== 'paragraph';
	const ends: ParagraphBlock = afterTable
		? { kind: 'paragraph', spans: [], look: 'text', quoteDepth: 0 }
		: last;
	const bare = styleOf(ends) === undefined && ends.list === undefined && !styled;
	if (textOf(ends.spans) !== '' || bare) return { closed: content, filled: false };
	const closing = { ...ends, spans: [{ text: placeholder, marks: {} }] };
	const kept = afterTable ? content.blocks : content.blocks.slice(0, -1);
	return { closed: { ...content, blocks: [...kept, closing] }, filled: true };
}

interface PlacedPicture {
	readonly start: number;
	/** After the text that it replaces. */
	readonly end: number;
	readonly address: string;
}

function picturesIn({ placed }: Layout): PlacedPicture[] {
	const inSpans = (spans: readonly Span[], start: number) => {
		let at = start;
		return spans.flatMap(({ text, picture }): PlacedPicture[] => {
			const from = at;
			at += text.length;
			return picture === undefined ? [] : [{ start: from, end: at, address: picture }];
		});
	};
	return placed.flatMap((one) =>
		isParagraph(one)
			? inSpans(one.block.spans, one.start)
			: one.block.rows.flatMap((row, rowAt) =>
					row.flatMap((spans, columnAt) => inSpans(spans, one.cells[rowAt]?.[columnAt] ?? 0)),
				),
	);
}

/** Without pictures, which are no text. */
function writtenIn(spans: readonly Span[]): string {
	return textOf(spans.filter(({ picture }) => picture === undefined));
}

function plainText({ placed }: Layout): string {
	return placed
		.map((one) =>
			isParagraph(one)
				? `${writtenIn(one.block.spans)}\n`
				: one.block.rows.map((row) => row.map((cell) => `${writtenIn(cell)}\n`).join('')).join(''),
		)
		.join('');
}

/** Filled from the last cell to the first, so that no insertion moves a cell that is still empty. */
function tableRequests({ block, insertAt }: PlacedTable, tabId: string | undefined): Request[] {
	const columns = block.rows[0]?.length ?? 0;
	const texts = block.rows.flatMap((row, rowAt) =>
		row.map((spans, columnAt) => ({
			text: textOf(spans),
			index: emptyCell(insertAt, columns, rowAt, columnAt),
		})),
	);
	const fills = texts.filter(({ text }) => text !== '').toReversed();
	return [
		{ insertTable: { rows: block.rows.length, columns, location: { index: insertAt, tabId } } },
		...fills.map(({ text, index }) => ({ insertText: { text, location: { index, tabId } } })),
	];
}
