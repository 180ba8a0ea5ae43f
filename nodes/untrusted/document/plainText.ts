import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { contentsOf, footnotesOf, Glyphs, piecesOf } from './elements';

type Content = readonly docs_v1.Schema$StructuralElement[];

const listIndent = '  ';

/** Converts tabs to plain text with a blank line between them; an empty tab adds none. */
export function textOfTabs(tabs: readonly docs_v1.Schema$DocumentTab[]): string {
	return tabs
		.map(plainTextOf)
		.filter((text) => text !== '')
		.join('\n\n');
}

/** Converts a tab's headers, body, footers and footnotes to plain text. Cells of a table are separated by tab characters, rows by line breaks. */
export function plainTextOf(tab: docs_v1.Schema$DocumentTab): string {
	const glyphs = new Glyphs(tab);
	const lineOf = (paragraph: docs_v1.Schema$Paragraph) => {
		const pieces = piecesOf(paragraph, tab).map((piece) => piece.text);
		const text = pieces.join('').replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const glyph = glyphs.next(paragraph.bullet);
		return `${listIndent.repeat(glyph.level)}${glyph.text} ${text}`;
	};
	const linesOf = (content: Content, cellSeparator: string): string[] =>
		content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return [lineOf(paragraph)];
			if (table) return rowsOf(table, cellSeparator);
			return linesOf(tableOfContents?.content ?? [], cellSeparator);
		});
	const rowsOf = ({ tableRows = [] }: docs_v1.Schema$Table, separator: string): string[] => {
		const rows = tableRows.map((row) => row.tableCells ?? []);
		const [cell, ...others] = rows.flat();
		// A table of one cell is a frame around code or text.
		if (cell && others.length === 0 && separator === '\t') return linesOf(cell.content ?? [], separator);
		return rows.map((cells) => cells.map(cellOf).join(separator));
	};
	/** Reads a cell as one line, so that a row of the table stays one line. */
	const cellOf = ({ content = [] }: docs_v1.Schema$TableCell): string => {
		const lines = linesOf(content, ' | ').map((line) => line.replace(/\s+/g, ' ').trim());
		return lines.filter((line) => line !== '').join(' ');
	};
	const textOf = (content: Content) => linesOf(content, '\t').join('\n');
	const parts = [
		...contentsOf(tab).map(textOf),
		...footnotesOf(tab).map(({ number, content }) => `[${number}] ${textOf(content).trim()}`),
	];
	return parts.filter((part) => part !== '').join('\n\n');
}
