import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans } from './blocks';
import {
	type DocumentTab,
	type Elements,
	getTabContents,
	getFootnotes,
	GlyphCounter,
	type Paragraph,
	readPieces,
} from './elements';

const listIndent = '  ';

/** Converts tabs to plain text with a blank line between them; an empty tab adds none. */
export const documentTabsToText = (tabs: readonly DocumentTab[]) => joinParts(tabs.map(documentTabToText));

const joinParts = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n');

/** Converts a tab's headers, body, footers and footnotes to plain text. Cells of a table are separated by tab characters, rows by line breaks. */
export function documentTabToText(tab: DocumentTab): string {
	const glyphs = new GlyphCounter(tab);
	const readLine = (paragraph: Paragraph) => {
		const text = joinSpans(readPieces(paragraph, tab)).replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const glyph = glyphs.countItem(paragraph.bullet);
		return `${listIndent.repeat(glyph.level)}${glyph.text} ${text}`;
	};
	const readLines = (content: Elements, cellSeparator: string): string[] =>
		content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return [readLine(paragraph)];
			if (table) return readRows(table, cellSeparator);
			return readLines(tableOfContents?.content ?? [], cellSeparator);
		});
	const readRows = ({ tableRows = [] }: docs_v1.Schema$Table, separator: string): string[] => {
		const rows = tableRows.map((row) => row.tableCells ?? []);
		const [cell, ...others] = rows.flat();
		// A table of one cell is a frame around code or text.
		if (cell && others.length === 0 && separator === '\t') return readLines(cell.content ?? [], separator);
		return rows.map((cells) => cells.map(readCell).join(separator));
	};
	/** Reads a cell as one line, so that a row of the table stays one line. */
	const readCell = ({ content = [] }: docs_v1.Schema$TableCell): string => {
		const lines = readLines(content, ' | ').map((line) => line.replace(/\s+/g, ' ').trim());
		return lines.filter((line) => line !== '').join(' ');
	};
	const readText = (content: Elements) => readLines(content, '\t').join('\n');
	return joinParts([
		...getTabContents(tab).map(readText),
		...getFootnotes(tab).map(({ number, content }) => `[${number}] ${readText(content).trim()}`),
	]);
}
