import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans } from './blocks';
import type { DocumentTab, Elements, Paragraph, TitledTab } from './elements';
import * as elements from './elements';

/**
 * Converts tabs to plain text, with a blank line between two tabs. A tab begins with its title, if
 * it has one.
 */
export function documentTabsToText(tabs: readonly TitledTab[]): string {
	const parts = tabs.flatMap((tab) => [tab.tabTitle ?? '', ...new TextReader(tab).readParts()]);
	return parts.filter((part) => part !== '').join('\n\n');
}

class TextReader {
	readonly #tab: DocumentTab;
	readonly #countItem: elements.ItemCounter;

	constructor(tab: DocumentTab) {
		this.#tab = tab;
		this.#countItem = elements.createItemCounter(tab);
	}

	/** Reads headers, body, footers and footnotes. */
	readParts(): string[] {
		const contents = elements.getTabContents(this.#tab);
		const texts = contents.map((content) => this.#readLines(content).join('\n'));
		const footnotes = elements.getFootnotes(this.#tab).map(({ number, content }) => {
			const text = this.#readLines(content).join('\n');
			return `[${number}] ${text.trim()}`;
		});
		return [...texts, ...footnotes];
	}

	#readLines(content: Elements): string[] {
		return content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return this.#readParagraph(paragraph);
			if (table) return this.#readRows(table);
			return this.#readLines(tableOfContents?.content ?? []);
		});
	}

	#readParagraph(paragraph: Paragraph): string {
		const pieces = elements.readPieces(paragraph, this.#tab);
		const text = joinSpans(pieces).replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const item = this.#countItem(paragraph.bullet);
		return `${'  '.repeat(item.level)}${elements.getItemSign(item, pieces)} ${text}`;
	}

	/** Reads one line per row, with tab characters between cells. */
	#readRows(table: docs_v1.Schema$Table): string[] {
		const [cell, ...otherCells] = elements.getCells(table);
		// A table with one cell is a frame around code or text.
		if (cell && otherCells.length === 0) return this.#readLines(cell.content ?? []);
		return (table.tableRows ?? []).map(({ tableCells = [] }) => {
			const cells = tableCells.map(({ content = [] }) => {
				const text = this.#readLines(content).join(' ');
				return text.replace(/\s+/g, ' ').trim();
			});
			return cells.join('\t');
		});
	}
}
