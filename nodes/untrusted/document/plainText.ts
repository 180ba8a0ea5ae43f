import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { contentsOf, footnotesOf, Glyphs, piecesOf } from './elements';

type Content = readonly docs_v1.Schema$StructuralElement[];

const listIndent = '  ';

/** The text of the tabs, with a blank line between them; an empty tab adds none. */
export function textOfTabs(tabs: readonly docs_v1.Schema$DocumentTab[]): string {
	return tabs
		.map(plainTextOf)
		.filter((text) => text !== '')
		.join('\n\n');
}

/**
 * All text of a tab: headers, body, footers and footnotes, separated by blank lines. Table cells are
 * separated by tabs, rows by line breaks.
 */
export function plainTextOf(tab: docs_v1.Schema$DocumentTab): string {
	const reader = new Reader(tab);
	const parts = [
		...contentsOf(tab).map((content) => reader.text(content)),
		...footnotesOf(tab).map(({ number, content }) => `[${number}] ${reader.text(content).trim()}`),
	];
	return parts.filter((part) => part !== '').join('\n\n');
}

class Reader {
	private readonly tab: docs_v1.Schema$DocumentTab;
	private readonly glyphs: Glyphs;

	constructor(tab: docs_v1.Schema$DocumentTab) {
		this.tab = tab;
		this.glyphs = new Glyphs(tab);
	}

	text(content: Content): string {
		return this.lines(content, '\t').join('\n');
	}

	private lines(content: Content, cellSeparator: string): string[] {
		return content.flatMap(({ paragraph, table, tableOfContents }) => {
			if (paragraph) return [this.line(paragraph)];
			if (table) return this.rows(table, cellSeparator);
			return tableOfContents ? this.lines(tableOfContents.content ?? [], cellSeparator) : [];
		});
	}

	private line(paragraph: docs_v1.Schema$Paragraph): string {
		const text = piecesOf(paragraph, this.tab)
			.map((piece) => piece.text)
			.join('')
			.replaceAll('\v', '\n');
		if (!paragraph.bullet) return text;
		const glyph = this.glyphs.next(paragraph.bullet);
		return `${listIndent.repeat(glyph.level)}${glyph.text} ${text}`;
	}

	private rows(table: docs_v1.Schema$Table, separator: string): string[] {
		const cells = (table.tableRows ?? []).flatMap((row) => row.tableCells ?? []);
		// A frame around code or text.
		if (cells.length === 1 && separator === '\t') return this.lines(cells[0]?.content ?? [], separator);
		return (table.tableRows ?? []).map((row) =>
			(row.tableCells ?? []).map((cell) => this.cell(cell)).join(separator),
		);
	}

	/** Always one line, so that a row stays a row. */
	private cell(cell: docs_v1.Schema$TableCell): string {
		const lines = this.lines(cell.content ?? [], ' | ').map((line) => line.replace(/\s+/g, ' ').trim());
		return lines.filter((line) => line !== '').join(' ');
	}
}
