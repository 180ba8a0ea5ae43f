/**
 * Quotes and lists at a greater depth are written as if they had this depth, so that no line gets a
 * long prefix.
 */
const maxDepth = 5;
/** Most line breaks in a row outside of preformatted text. Further line breaks are left out. */
const maxLineBreaks = 2;
/** Zero-width space and byte order mark, which are never displayed. */
const zeroWidthPattern = /[\u200b\ufeff]/g;
/**
 * Senders pad the preview of an email with spaces and joiners. Inside a text, joiners are part of
 * words and emoji.
 */
const leadingPaddingPattern = /^[ \u034f\u200c\u200d]+/;

/** A row of a table whose end is not reached, and the tabs that separate its cells. */
class Row {
	cellCount = 0;
	/** The line on which the text of the row begins; undefined as long as it has none. */
	firstLine: number | undefined;
	/** Position of that text among the pieces. */
	firstPiece = 0;
	/**
	 * Tabs for empty cells at the start, which are written once a second cell has text. In other
	 * rows, such cells only make room.
	 */
	leadingTabs = 0;
	/**
	 * Whether several cells of this row have text, or of a row above it. Then empty cells get tabs,
	 * too, so that the columns stay.
	 */
	isData = false;
	/**
	 * Whether a cell has a table of several lines. Cells of such a row are columns of a page, which
	 * are written below each other.
	 */
	hasColumns = false;
}

/**
 * Builds plain text from pieces. Collapses spaces, writes line breaks only before a text, and marks
 * quotes, lists and tables.
 */
export class TextWriter {
	quoteDepth = 0;
	/** Inside preformatted elements, white space and line breaks are written as they are. */
	openPreCount = 0;
	/** The next number of each open list; undefined for a list with bullets. */
	readonly nextItemNumbers: Array<number | undefined> = [];
	readonly #pieces: string[] = [];
	#lineCount = 0;
	/** The row of the innermost table. */
	#row = new Row();
	readonly #outerRows: Row[] = [];
	/**
	 * Tabs before the next text. Until then, line breaks are ignored, so that the row stays on one
	 * line.
	 */
	#pendingTabs = 0;
	#pendingLineBreaks = 1;
	#hasPendingSpace = false;
	#pendingItemPrefix = '';
	#writtenQuoteDepth = 0;

	finish(): string {
		// Tabs at the start stay, because they are empty cells.
		return this.getTextFrom(0)
			.replace(/^[ \n]+/, '')
			.trimEnd();
	}

	get pieceCount(): number {
		return this.#pieces.length;
	}

	getTextFrom(piece: number): string {
		return this.#pieces.slice(piece).join('');
	}

	/**
	 * Ensures a minimum number of line breaks before the next text, except at the start of a cell.
	 */
	ensureLineBreaks(count: number): void {
		if (this.#pendingTabs > 0) return;
		this.#pendingLineBreaks = Math.max(this.#pendingLineBreaks, count);
		this.#hasPendingSpace = false;
	}

	addLineBreak(): void {
		const count = this.#pendingLineBreaks + 1;
		this.ensureLineBreaks(this.openPreCount > 0 ? count : Math.min(count, maxLineBreaks));
	}

	openTable(): void {
		this.#outerRows.push(this.#row);
		this.#row = new Row();
	}

	closeTable(): void {
		this.endRow();
		this.#row = this.#outerRows.pop() ?? new Row();
		const { firstLine = this.#lineCount } = this.#row;
		if (this.#lineCount > firstLine) this.#row.hasColumns = true;
	}

	startRow(): void {
		this.endRow();
		const { isData } = this.#row;
		this.#row = new Row();
		this.#row.isData = isData;
	}

	endRow(): void {
		// Tabs before a row without text belong to a table around it.
		if (this.#row.firstLine === undefined) return;
		this.#pendingTabs = 0;
		this.ensureLineBreaks(1);
	}

	startCell(): void {
		this.#row.cellCount++;
		if (this.#row.firstLine === undefined) return;
		if (this.#row.hasColumns) {
			this.ensureLineBreaks(1);
			return;
		}
		this.#pendingTabs++;
		this.#pendingLineBreaks = 0;
		this.#hasPendingSpace = false;
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
			this.#writeWords(text.replace(zeroWidthPattern, '').replace(/\s+/g, ' '));
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
		const isAtStart = this.#pendingLineBreaks > 0 || this.#pendingTabs > 0;
		if (padding.includes(' ')) this.#hasPendingSpace = true;
		// Joiners without a space belong to a word or an emoji.
		else if (padding !== '' && !this.#hasPendingSpace && !isAtStart) this.#writePiece(padding);
		const words = text.slice(padding.length);
		if (words === '') return;
		this.#writePiece(words.trimEnd());
		this.#hasPendingSpace = words.endsWith(' ');
	}

	#writePiece(text: string): void {
		const isFirstOfData = this.#row.isData && this.#row.firstLine === undefined;
		// Rows of data follow each other without blank lines.
		if (isFirstOfData) this.#pendingLineBreaks = 1;
		let gap = this.#hasPendingSpace ? ' ' : '';
		if (this.#pendingLineBreaks > 0) {
			this.#lineCount++;
			this.#pieces.push(this.#buildLineStart());
			gap = '';
		}
		if (this.#pendingTabs > 0) {
			this.#writeLeadingTabs();
			gap = '\t'.repeat(this.#pendingTabs);
		}
		this.#markRows();
		if (isFirstOfData) gap = '\t'.repeat(Math.max(0, this.#row.cellCount - 1));
		this.#pieces.push(gap + text);
		this.#pendingTabs = 0;
		this.#pendingLineBreaks = 0;
		this.#hasPendingSpace = false;
		this.#pendingItemPrefix = '';
	}

	#writeLeadingTabs(): void {
		const { firstPiece, leadingTabs } = this.#row;
		this.#pieces[firstPiece] = '\t'.repeat(leadingTabs) + (this.#pieces[firstPiece] ?? '');
		this.#row.leadingTabs = 0;
		this.#row.isData = true;
	}

	/** Notes where the rows begin that have their first text now. */
	#markRows(): void {
		// The innermost row comes first. If it already has text, so do the rows around it.
		for (let index = this.#outerRows.length; index >= 0; index--) {
			const row = this.#outerRows[index] ?? this.#row;
			if (row.firstLine !== undefined) return;
			row.firstLine = this.#lineCount;
			row.firstPiece = this.#pieces.length;
			row.leadingTabs = row.isData ? 0 : Math.max(0, row.cellCount - 1);
		}
	}

	#buildLineStart(): string {
		const quoteDepth = Math.min(this.quoteDepth, maxDepth);
		const blankLine = '> '.repeat(Math.min(quoteDepth, this.#writtenQuoteDepth)).trimEnd();
		const breaks = Array<string>(this.#pendingLineBreaks).fill('\n').join(blankLine);
		this.#writtenQuoteDepth = quoteDepth;
		let listDepth = Math.min(this.nextItemNumbers.length, maxDepth);
		if (this.#pendingItemPrefix !== '') listDepth = Math.max(0, listDepth - 1);
		const indent = '  '.repeat(listDepth);
		return breaks + '> '.repeat(quoteDepth) + indent + this.#pendingItemPrefix;
	}
}
