import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans } from './blocks';
import type { DocumentTab, Elements, Paragraph } from './elements';
import * as elements from './elements';

/** Converts tabs to plain text, with a blank line between two tabs. Leaves out empty tabs. */
export const documentTabsToText = (tabs: readonly DocumentTab[]) =>
	joinParts(tabs.map(documentTabToText));

const joinParts = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n');

/** Converts a tab's headers, body, footers and footnotes to plain text, with tab characters between cells and line breaks between rows. */
export function documentTabToText(tab: DocumentTab): string {
	const glyphs = new elements.GlyphCounter(tab);
	const readLine = (paragraph: Paragraph) => {
		const text = joinSpans(elements.readPieces(paragraph, tab)).replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const glyph = glyphs.countItem(paragraph.bullet);
		return `${'  '.repeat(glyph.level)}${glyph.text} ${text}`;
	};
	const readLines = (content: Elements, cellSeparator: string): string[] =>
		content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return [readLine(paragraph)];
			if (table) return readRows(table, cellSeparator);
			return readLines(tableOfContents?.content ?? [], cellSeparator);
		});
	const readRows = ({ tableRows = [] }: docs_v1.Schema$Table, separator: string): string[] => {
		const rows = tableRows.map((row) => row.tableCells ?? []);
		const [cell, ...otherCells] = rows.flat();
		// A table with one cell, outside of other tables, is a frame around code or text.
		if (cell && otherCells.length === 0 && separator === '\t')
			return readLines(cell.content ?? [], separator);
		return rows.map((cells) => cells.map(readCell).join(separator));
	};
	/** Reads a cell as one line, so that a row of the table stays one line. */
	const readCell = ({ content = [] }: docs_v1.Schema$TableCell): string => {
		const lines = readLines(content, ' | ').map((line) => line.replace(/\s+/g, ' ').trim());
		return lines.filter((line) => line !== '').join(' ');
	};
	const readText = (content: Elements) => readLines(content, '\t').join('\n');
	return joinParts([
		...elements.getTabContents(tab).map(readText),
		...elements
			.getFootnotes(tab)
			.map(({ number, content }) => `[${number}] ${readText(content).trim()}`),
	]);
}
