/** Quotes and lists at a greater depth are written as if they had this depth, so that no line gets a long prefix. */
const maxDepth = 5;
/** Most line breaks in a row outside of preformatted text. Further line breaks are left out. */
const maxLineBreaks = 2;
const whitespacePattern = /[ \t\r\n\f]+/g;
/** Zero-width space and byte order mark, which are never displayed. */
const zeroWidthPattern = /[\u200b\ufeff]/g;
/** Senders pad the preview of an email with spaces and joiners. Inside a text, joiners are part of words and emoji. */
const leadingPaddingPattern = /^[ \u00a0\u2007\u034f\u200c\u200d]+/;

/** The state of a table whose end is not reached. */
class OpenTable {
	/** Whether any row has text in two cells. Then empty cells also get tabs. A table without such a row only serves the layout of a page. */
	isData = false;
	/** Whether a cell of the row has an inner table with several lines. Cells of such a row are parts of a page, written below each other. */
	isLayoutRow = false;
	cellCount = 0;
	filledCellCount = 0;
	isCellFilled = false;
	hasEndedInnerTable = false;
	/** Line number at which the text of the cell begins. */
	cellLine = 0;
	pendingTabs = 0;
}

/** Builds plain text from pieces. Collapses spaces, writes line breaks only before a text, and marks quotes, lists and tables. */
export class TextWriter {
	quoteDepth = 0;
	openPreCount = 0;
	/** The next number of each open list; undefined for a list with bullets. */
	readonly nextItemNumbers: Array<number | undefined> = [];
	#lineCount = 0;
	readonly #pieces: string[] = [];
	/** What is written from when this is set to '', such as the text of a link. */
	recordedText: string | undefined;
	/** The innermost open table; outside of tables, an object without cells. */
	#table = new OpenTable();
	readonly #outerTables: OpenTable[] = [];
	/** The first text of the row, with tabs for the empty cells before it. It replaces the piece at `index` if a second cell has text. */
	#firstTextOfRow:
		{ readonly table: OpenTable; readonly index: number; readonly text: string } | undefined;
	#pendingLineBreaks = 1;
	/** The table with a cell that began after the last text. Line breaks are ignored until this cell has text, so the row stays on one line. */
	#openedCellTable: OpenTable | undefined;
	#pendingSpace = '';
	#pendingItemPrefix = '';
	#writtenQuoteDepth = 0;

	finish(): string {
		// Tabs at the start stay, because they are empty cells.
		return this.#pieces
			.join('')
			.replace(/^[ \n]+/, '')
			.trimEnd();
	}

	/** Ensures a minimum number of line breaks before the next text, except at the start of a cell. */
	ensureLineBreaks(count: number): void {
		if (this.#openedCellTable) return;
		this.#pendingLineBreaks = Math.max(this.#pendingLineBreaks, count);
		this.#pendingSpace = '';
	}

	addLineBreak(): void {
		const count = this.#pendingLineBreaks + 1;
		this.ensureLineBreaks(this.openPreCount > 0 ? count : Math.min(count, maxLineBreaks));
	}

	openTable(): void {
		this.#outerTables.push(this.#table);
		this.#table = new OpenTable();
	}

	closeTable(): void {
		this.endRow();
		this.#table = this.#outerTables.pop() ?? new OpenTable();
		this.#table.hasEndedInnerTable = true;
	}

	startRow(): void {
		const table = this.#table;
		this.endRow();
		Object.assign(table, new OpenTable(), { isData: table.isData });
		if (!table.isData || this.#openedCellTable) return;
		// Rows of data follow each other without blank lines.
		this.#pendingLineBreaks = 1;
		this.#openedCellTable = table;
	}

	endRow(): void {
		if (this.#firstTextOfRow?.table === this.#table) this.#firstTextOfRow = undefined;
		if (this.#openedCellTable !== this.#table) return;
		this.#openedCellTable = undefined;
		this.ensureLineBreaks(1);
	}

	startCell(): void {
		const table = this.#table;
		table.isLayoutRow ||=
			table.isCellFilled && table.hasEndedInnerTable && this.#lineCount > table.cellLine;
		table.isCellFilled = false;
		table.hasEndedInnerTable = false;
		table.cellCount++;
		if (table.cellCount === 1) return;
		if (table.isLayoutRow) {
			this.ensureLineBreaks(1);
			return;
		}
		table.pendingTabs++;
		if (table.filledCellCount === 0) return;
		// The cell stays on the line of the text before it.
		this.#pendingLineBreaks = 0;
		this.#pendingSpace = '';
		this.#openedCellTable = table;
	}

	/** @param firstNumber undefined for a list with bullets */
	openList(firstNumber?: number): void {
		this.nextItemNumbers.push(firstNumber);
	}

	closeList(): void {
		this.nextItemNumbers.pop();
		this.#pendingItemPrefix = '';
	}

	startItem(): void {
		const number = this.nextItemNumbers.at(-1);
		this.#pendingItemPrefix = number === undefined ? '* ' : `${number}. `;
		if (number !== undefined)
			this.nextItemNumbers[this.nextItemNumbers.length - 1] = number + 1;
	}

	write(text: string): void {
		if (this.openPreCount === 0) {
			this.#writeWords(text.replace(zeroWidthPattern, '').replace(whitespacePattern, ' '));
			return;
		}
		for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
			if (index > 0) this.addLineBreak();
			if (line !== '') this.#writePiece(line);
		}
	}

	/** Writes a text on the line of the previous text. Pending line breaks are written after it. */
	appendToLine(text: string): void {
		const pendingLineBreaks = this.#pendingLineBreaks;
		this.#pendingLineBreaks = 0;
		this.write(text);
		this.#pendingLineBreaks = pendingLineBreaks;
	}

	#writeWords(text: string): void {
		const [padding = ''] = leadingPaddingPattern.exec(text) ?? [];
		const isAtLineOrCellStart =
			this.#pendingLineBreaks > 0 || this.#openedCellTable !== undefined;
		const words = text.slice(padding.length);
		const space = collapseSpaces(padding);
		if (space !== '') this.#pendingSpace ||= space;
		// Joiners without a space belong to a word or an emoji.
		else if (padding !== '' && this.#pendingSpace === '' && !isAtLineOrCellStart)
			this.#writePiece(padding);
		if (words === '') return;
		let end = words.length;
		while (collapseSpaces(words.charAt(end - 1)) !== '') end--;
		this.#writePiece(words.slice(0, end));
		this.#pendingSpace = collapseSpaces(words.slice(end));
	}

	#writePiece(text: string): void {
		const isLineStart = this.#pendingLineBreaks > 0;
		if (isLineStart) {
			this.#lineCount++;
			this.#pieces.push(this.#buildLineStart());
		}
		const tabs = this.#fillOpenCells(text);
		const gap = tabs || (isLineStart ? '' : this.#pendingSpace);
		this.#pieces.push(gap + text);
		if (this.recordedText !== undefined) this.recordedText += (isLineStart ? '\n' : gap) + text;
		this.#pendingLineBreaks = 0;
		this.#openedCellTable = undefined;
		this.#pendingSpace = '';
		this.#pendingItemPrefix = '';
	}

	/** Marks the current cell, and the cells that contain its table, as filled. @returns the tabs that go before the text */
	#fillOpenCells(text: string): string {
		let tabs = '';
		for (let index = this.#outerTables.length; index >= 0; index--) {
			// The innermost table comes first. If its cell is already filled, so are the cells around it.
			const table = this.#outerTables[index] ?? this.#table;
			if (table.isCellFilled) break;
			table.isCellFilled = true;
			if (table.cellCount === 0) continue;
			table.cellLine = this.#lineCount;
			const cellTabs = '\t'.repeat(table.pendingTabs);
			table.pendingTabs = 0;
			table.filledCellCount++;
			if (table.filledCellCount >= 2 && !table.isLayoutRow) table.isData = true;
			if (!table.isData) {
				if (cellTabs !== '')
					this.#firstTextOfRow = {
						table,
						index: this.#pieces.length,
						text: cellTabs + text,
					};
				continue;
			}
			tabs = cellTabs + tabs;
			if (this.#firstTextOfRow?.table !== table) continue;
			// The table is data after all, so the first text of the row gets its tabs.
			this.#pieces[this.#firstTextOfRow.index] = this.#firstTextOfRow.text;
			this.#firstTextOfRow = undefined;
		}
		return tabs;
	}

	#buildLineStart(): string {
		const quoteDepth = Math.min(this.quoteDepth, maxDepth);
		const blankLinePrefix = '> '
			.repeat(Math.min(quoteDepth, this.#writtenQuoteDepth))
			.trimEnd();
		const breaks = `\n${`${blankLinePrefix}\n`.repeat(Math.max(0, this.#pendingLineBreaks - 1))}`;
		const listDepth = Math.min(this.nextItemNumbers.length, maxDepth);
		const indent = '  '.repeat(
			this.#pendingItemPrefix === '' ? listDepth : Math.max(0, listDepth - 1),
		);
		this.#writtenQuoteDepth = quoteDepth;
		return `${breaks}${'> '.repeat(quoteDepth)}${indent}${this.#pendingItemPrefix}`;
	}
}

/** Returns a space for a text with spaces, a no-break space for one with only no-break spaces, and '' for one with neither. */
function collapseSpaces(text: string): string {
	if (text.includes(' ')) return ' ';
	return /[\u00a0\u2007]/.test(text) ? '\u00a0' : '';
}
