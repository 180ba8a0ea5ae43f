import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans } from './blocks';
import type { DocumentTab, Elements, Paragraph, TitledTab } from './elements';
import * as elements from './elements';

/** Converts tabs to plain text, with a blank line between two tabs. A tab begins with its title, if it has one. */
export function documentTabsToText(tabs: readonly TitledTab[]): string {
	return joinParts(tabs.flatMap((tab) => [tab.tabTitle ?? '', documentTabToText(tab)]));
}

const joinParts = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n');

/** Converts a tab's headers, body, footers and footnotes to plain text, with tab characters between cells and line breaks between rows. */
function documentTabToText(tab: DocumentTab): string {
	const reader = new TextReader(tab);
	const contents = elements.getTabContents(tab).map((content) => reader.readText(content));
	const footnotes = elements
		.getFootnotes(tab)
		.map(({ number, content }) => `[${number}] ${reader.readText(content).trim()}`);
	return joinParts([...contents, ...footnotes]);
}

class TextReader {
	readonly #tab: DocumentTab;
	readonly #glyphs: elements.GlyphCounter;

	constructor(tab: DocumentTab) {
		this.#tab = tab;
		this.#glyphs = new elements.GlyphCounter(tab);
	}

	readText(content: Elements): string {
		return this.#readLines(content, '\t').join('\n');
	}

	#readLines(content: Elements, cellSeparator: string): string[] {
		return content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return [this.#readLine(paragraph)];
			if (table) return this.#readRows(table, cellSeparator);
			return this.#readLines(tableOfContents?.content ?? [], cellSeparator);
		});
	}

	#readLine(paragraph: Paragraph): string {
		const pieces = elements.readPieces(paragraph, this.#tab);
		const text = joinSpans(pieces).replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const glyph = this.#glyphs.countItem(paragraph.bullet);
		const isTicked = glyph.kind === 'checkbox' && elements.isTicked(pieces);
		return `${'  '.repeat(glyph.level)}${isTicked ? '☑' : glyph.text} ${text}`;
	}

	#readRows({ tableRows = [] }: docs_v1.Schema$Table, separator: string): string[] {
		const rows = tableRows.map((row) => row.tableCells ?? []);
		const [cell, ...otherCells] = rows.flat();
		// A table with one cell, outside of other tables, is a frame around code or text.
		if (cell && otherCells.length === 0 && separator === '\t')
			return this.#readLines(cell.content ?? [], separator);
		return rows.map((cells) => cells.map((rowCell) => this.#readCell(rowCell)).join(separator));
	}

	/** Reads a cell as one line, so that a row of the table stays one line. */
	#readCell({ content = [] }: docs_v1.Schema$TableCell): string {
		const lines = this.#readLines(content, ' | ');
		return lines.join(' ').replace(/\s+/g, ' ').trim();
	}
}
