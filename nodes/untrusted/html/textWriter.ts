/** Quotes and lists that are nested deeper look like this depth, so that no line gets a long prefix. */
const maxDepth = 5;
/** Outside preformatted text, more line breaks in a row are left out. */
const maxLineBreaks = 2;

const whitespace = /[ \t\r\n\f]+/g;
/** Zero-width space and byte order mark, which are never displayed. */
const zeroWidthCharacters = /[\u200b\ufeff]/g;
/** Joiners are part of words and emoji, but senders also use them, with spaces, to pad previews. */
const leadingPadding = /^[ \u00a0\u2007\u034f\u200c\u200d]+/;

/** Joins pieces when there are this many. The larger limit applies while the first text of a row may still get tabs. */
const maxPieces = 1_000;
const maxPiecesInRow = 100_000;

/** The state of an open table while its cells are written. */
class OpenTable {
	/** Whether some row has text in two cells, so that its empty cells get tabs, too. Other tables only lay out a page. */
	isData = false;
	/** Whether a cell of the row holds a table with several lines. The cells are then parts of a page and go below each other. */
	isLayoutRow = false;
	/** Number of the row's cells so far; below it, of those with text. */
	cellCount = 0;
	filledCellCount = 0;
	isCellFilled = false;
	/** Whether the cell holds another table. */
	hasInnerTable = false;
	/** Number of the line on which the text of the cell begins. */
	cellLine = 0;
	/** Number of tabs between cells that are still to be written. */
	pendingTabs = 0;
}

/** Collects text. It collapses spaces, writes line breaks only before more text, and marks quotes, lists and tables. */
export class TextWriter {
	quoteDepth = 0;
	preDepth = 0;
	/** The next number of each open list; NaN for one with bullets. */
	readonly nextItemNumbers: number[] = [];
	#lineCount = 0;
	#joinedText = '';
	/** Text that is not joined yet. Pieces are joined many at a time, because millions of small strings take many times the memory of one. */
	#pieces: string[] = [];
	recordedText = '';
	#maxRecordedCharacters = 0;
	#table = new OpenTable();
	readonly #outerTables: OpenTable[] = [];
	/** The row's first text, as it reads with tabs for the empty cells before it. The tabs are written if a second cell has text. */
	#firstTextOfRow: { readonly table: OpenTable; readonly piece: number; readonly text: string } | undefined;
	#pendingLineBreaks = 1;
	/** The table whose cell was just opened: until the next text, breaks are ignored, because the cell begins on its row's line. */
	#openedCellTable: OpenTable | undefined;
	/** The space that goes before the next text on the line. */
	#pendingSpace = '';
	#pendingBullet = '';
	#writtenQuoteDepth = 0;

	finish(): string {
		// Tabs at the start are empty cells.
		return (this.#joinedText + this.#pieces.join('')).replace(/^[ \n]+/, '').trimEnd();
	}

	/** Starts recording what is written, until that is longer than `most` characters. */
	startRecording(most: number): void {
		this.recordedText = '';
		this.#maxRecordedCharacters = most;
	}

	/** Ensures at least this many line breaks before the next text. */
	ensureLineBreaks(breaks: number): void {
		if (this.#openedCellTable) return;
		this.#pendingLineBreaks = Math.max(this.#pendingLineBreaks, breaks);
		this.#pendingSpace = '';
	}

	addLineBreak(): void {
		const breaks = this.#pendingLineBreaks + 1;
		this.ensureLineBreaks(this.preDepth > 0 ? breaks : Math.min(breaks, maxLineBreaks));
	}

	openTable(): void {
		this.#outerTables.push(this.#table);
		this.#table = new OpenTable();
	}

	closeTable(): void {
		this.endRow();
		this.#table = this.#outerTables.pop() ?? new OpenTable();
		this.#table.hasInnerTable = true;
	}

	startRow(): void {
		const table = this.#table;
		this.endRow();
		Object.assign(table, new OpenTable(), { isData: table.isData });
		if (!table.isData || this.#openedCellTable) return;
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
		table.isLayoutRow ||= table.isCellFilled && table.hasInnerTable && this.#lineCount > table.cellLine;
		table.isCellFilled = false;
		table.hasInnerTable = false;
		if (table.cellCount++ === 0) return;
		if (table.isLayoutRow) {
			this.ensureLineBreaks(1);
			return;
		}
		table.pendingTabs++;
		if (table.filledCellCount === 0) return;
		this.#pendingLineBreaks = 0;
		this.#pendingSpace = '';
		this.#openedCellTable = table;
	}

	closeList(): void {
		this.nextItemNumbers.pop();
		this.#pendingBullet = '';
	}

	startItem(): void {
		const number = this.nextItemNumbers.at(-1) ?? NaN;
		this.#pendingBullet = Number.isNaN(number) ? '* ' : `${number}. `;
		if (!Number.isNaN(number)) this.nextItemNumbers[this.nextItemNumbers.length - 1] = number + 1;
	}

	write(text: string): void {
		if (this.preDepth === 0) {
			this.#writeWords(text.replace(zeroWidthCharacters, '').replace(whitespace, ' '));
			return;
		}
		for (const [at, line] of text.split(/\r\n?|\n/).entries()) {
			if (at > 0) this.addLineBreak();
			if (line !== '') this.#writePiece(line);
		}
	}

	/** Writes on the line of the preceding text and keeps the line breaks that are due for after this text. */
	appendToLine(text: string): void {
		const breaks = this.#pendingLineBreaks;
		this.#pendingLineBreaks = 0;
		this.write(text);
		this.#pendingLineBreaks = breaks;
	}

	#writeWords(text: string): void {
		const [start = ''] = leadingPadding.exec(text) ?? [];
		const isAtStart = this.#pendingLineBreaks > 0 || this.#openedCellTable !== undefined;
		const words = text.slice(start.length);
		const space = collapseSpaces(start);
		if (space !== '') this.#pendingSpace ||= space;
		else if (start !== '' && this.#pendingSpace === '' && !isAtStart) this.#writePiece(start);
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
			this.#storePiece(this.#buildLineStart());
		}
		const gap = this.#markCellsFilled(text) || (isLineStart ? '' : this.#pendingSpace);
		this.#storePiece(gap + text);
		// A gap before the first recorded text is not recorded.
		if (this.recordedText.length <= this.#maxRecordedCharacters)
			this.recordedText += (this.recordedText && (isLineStart ? '\n' : gap)) + text;
		this.#pendingLineBreaks = 0;
		this.#openedCellTable = undefined;
		this.#pendingSpace = '';
		this.#pendingBullet = '';
	}

	/** Marks the current cell, and the cells that contain its table, as filled. @returns the tabs that go before the text */
	#markCellsFilled(text: string): string {
		let tabs = '';
		for (let at = this.#outerTables.length; at >= 0; at--) {
			const table = this.#outerTables[at] ?? this.#table;
			if (table.isCellFilled) break;
			table.isCellFilled = true;
			if (table.cellCount === 0) continue;
			table.cellLine = this.#lineCount;
			const own = '\t'.repeat(table.pendingTabs);
			table.pendingTabs = 0;
			if (++table.filledCellCount >= 2 && !table.isLayoutRow) table.isData = true;
			if (table.isData) tabs = own + tabs;
			else if (own !== '') this.#firstTextOfRow = { table, piece: this.#pieces.length, text: own + text };
			if (!table.isData || this.#firstTextOfRow?.table !== table) continue;
			this.#pieces[this.#firstTextOfRow.piece] = this.#firstTextOfRow.text;
			this.#firstTextOfRow = undefined;
		}
		return tabs;
	}

	#buildLineStart(): string {
		const quotes = Math.min(this.quoteDepth, maxDepth);
		const blank = '> '.repeat(Math.min(quotes, this.#writtenQuoteDepth)).trimEnd();
		const breaks = `\n${`${blank}\n`.repeat(Math.max(0, this.#pendingLineBreaks - 1))}`;
		const depth = Math.min(this.nextItemNumbers.length, maxDepth);
		const indent = '  '.repeat(this.#pendingBullet === '' ? depth : Math.max(0, depth - 1));
		this.#writtenQuoteDepth = quotes;
		return `${breaks}${'> '.repeat(quotes)}${indent}${this.#pendingBullet}`;
	}

	#storePiece(text: string): void {
		const count = this.#pieces.push(text);
		if (count < (this.#firstTextOfRow ? maxPiecesInRow : maxPieces)) return;
		this.#joinedText += this.#pieces.join('');
		this.#pieces = [];
		this.#firstTextOfRow = undefined;
	}
}

/** Returns one space for any number of them, a no-break space if all are such, and '' for none. */
function collapseSpaces(text: string): string {
	if (text.includes(' ')) return ' ';
	return /[\u00a0\u2007]/.test(text) ? '\u00a0' : '';
}
