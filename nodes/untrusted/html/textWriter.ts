/** Quotes and lists that are nested deeper look like this depth, so that no line gets a long prefix. */
const deepest = 5;
/** Outside preformatted text, more line breaks in a row are left out. */
const mostBreaks = 2;

const spaces = /[ \t\r\n\f]+/g;
/** Zero-width space and byte order mark, which are never displayed. */
const invisible = /[\u200b\ufeff]/g;
/** Joiners are part of words and emoji, but senders also use them, with spaces, to pad previews. */
const leading = /^[ \u00a0\u2007\u034f\u200c\u200d]+/;

/** Pieces are joined when there are this many. While the first cell of a row may still get tabs, more of them stay apart. */
const fewPieces = 1_000;
const manyPieces = 100_000;

/** The state of an open table while its cells are written. */
class Table {
	/** Whether some row has text in two cells, so that its empty cells get tabs, too. Other tables only lay out a page. */
	isData = false;
	/** Whether a cell of the row holds a table with several lines. The cells are then parts of a page and go below each other. */
	arranges = false;
	/** Number of the row's cells so far; below it, of those with text. */
	cells = 0;
	filled = 0;
	isCellFilled = false;
	/** Whether the cell holds another table. */
	holdsTable = false;
	/** Number of the line on which the text of the cell begins. */
	line = 0;
	/** Number of tabs between cells that are still to be written. */
	tabs = 0;
}

/** Collects text. It collapses spaces, writes line breaks only before more text, and marks quotes, lists and tables. */
export class TextWriter {
	quoteDepth = 0;
	preDepth = 0;
	/** The next number of each open list; NaN for one with bullets. */
	readonly lists: number[] = [];
	private lines = 0;
	private written = '';
	/** Text that is not joined yet. Pieces are joined many at a time, because millions of small strings take many times the memory of one. */
	private pieces: string[] = [];
	recorded = '';
	private mostRecorded = 0;
	private table = new Table();
	private readonly outerTables: Table[] = [];
	/** The row's first text, and how it reads with tabs for the empty cells before it. It gets them if a second cell has text. */
	private corner: { readonly table: Table; readonly piece: number; readonly text: string } | undefined;
	private breaks = 1;
	/** The table whose cell was just opened: until the next text, breaks are ignored, because the cell begins on its row's line. */
	private lock: Table | undefined;
	/** The space that goes before the next text on the line. */
	private gap = '';
	private bullet = '';
	private writtenDepth = 0;

	text(): string {
		// Tabs at the start are empty cells.
		return (this.written + this.pieces.join('')).replace(/^[ \n]+/, '').trimEnd();
	}

	/** Starts recording what is written, until that is longer than `most` characters. */
	startRecord(most: number): void {
		this.recorded = '';
		this.mostRecorded = most;
	}

	/** Ensures at least this many line breaks before the next text. */
	atLeast(breaks: number): void {
		if (this.lock) return;
		this.breaks = Math.max(this.breaks, breaks);
		this.gap = '';
	}

	newLine(): void {
		if (this.lock) return;
		if (this.preDepth > 0 || this.breaks < mostBreaks) this.breaks++;
		this.gap = '';
	}

	openTable(): void {
		this.outerTables.push(this.table);
		this.table = new Table();
	}

	closeTable(): void {
		this.endRow();
		this.table = this.outerTables.pop() ?? new Table();
		this.table.holdsTable = true;
	}

	row(): void {
		const { table } = this;
		this.endRow();
		Object.assign(table, new Table(), { isData: table.isData });
		if (!table.isData || this.lock) return;
		this.breaks = 1;
		this.lock = table;
	}

	endRow(): void {
		if (this.corner?.table === this.table) this.corner = undefined;
		if (this.lock !== this.table) return;
		this.lock = undefined;
		this.atLeast(1);
	}

	cell(): void {
		const { table } = this;
		table.arranges ||= table.isCellFilled && table.holdsTable && this.lines > table.line;
		table.isCellFilled = false;
		table.holdsTable = false;
		if (table.cells++ === 0) return;
		if (table.arranges) {
			this.atLeast(1);
			return;
		}
		table.tabs++;
		if (table.filled === 0) return;
		this.breaks = 0;
		this.gap = '';
		this.lock = table;
	}

	closeList(): void {
		this.lists.pop();
		this.bullet = '';
	}

	item(): void {
		const number = this.lists.at(-1) ?? NaN;
		this.bullet = Number.isNaN(number) ? '* ' : `${number}. `;
		if (!Number.isNaN(number)) this.lists[this.lists.length - 1] = number + 1;
	}

	write(text: string): void {
		if (this.preDepth === 0) {
			this.writeWords(text.replace(invisible, '').replace(spaces, ' '));
			return;
		}
		for (const [at, line] of text.split(/\r\n?|\n/).entries()) {
			if (at > 0) this.newLine();
			if (line !== '') this.push(line);
		}
	}

	/** Writes on the line of the preceding text and keeps the line breaks that are due for after this text. */
	append(text: string): void {
		const { breaks } = this;
		this.breaks = 0;
		this.write(text);
		this.breaks = breaks;
	}

	private writeWords(text: string): void {
		const [start = ''] = leading.exec(text) ?? [];
		const isAtStart = this.breaks > 0 || this.lock !== undefined;
		const words = text.slice(start.length);
		const space = spaceOf(start);
		if (space !== '') this.gap ||= space;
		else if (start !== '' && this.gap === '' && !isAtStart) this.push(start);
		if (words === '') return;
		let end = words.length;
		while (spaceOf(words.charAt(end - 1)) !== '') end--;
		this.push(words.slice(0, end));
		this.gap = spaceOf(words.slice(end));
	}

	private push(text: string): void {
		const isLineStart = this.breaks > 0;
		if (isLineStart) {
			this.lines++;
			this.add(this.lineStart());
		}
		const gap = this.fillCells(text) || (isLineStart ? '' : this.gap);
		this.add(gap + text);
		// A gap before the first recorded text is not recorded.
		if (this.recorded.length <= this.mostRecorded)
			this.recorded += (this.recorded && (isLineStart ? '\n' : gap)) + text;
		this.breaks = 0;
		this.lock = undefined;
		this.gap = '';
		this.bullet = '';
	}

	/** Marks the current cell, and the cells that contain its table, as filled. @returns the tabs that go before the text */
	private fillCells(text: string): string {
		let tabs = '';
		for (let at = this.outerTables.length; at >= 0; at--) {
			const table = this.outerTables[at] ?? this.table;
			if (table.isCellFilled) break;
			table.isCellFilled = true;
			if (table.cells === 0) continue;
			table.line = this.lines;
			const own = '\t'.repeat(table.tabs);
			table.tabs = 0;
			if (++table.filled >= 2 && !table.arranges) table.isData = true;
			if (table.isData) tabs = own + tabs;
			else if (own !== '') this.corner = { table, piece: this.pieces.length, text: own + text };
			if (!table.isData || this.corner?.table !== table) continue;
			this.pieces[this.corner.piece] = this.corner.text;
			this.corner = undefined;
		}
		return tabs;
	}

	private lineStart(): string {
		const quotes = Math.min(this.quoteDepth, deepest);
		const blank = '> '.repeat(Math.min(quotes, this.writtenDepth)).trimEnd();
		const breaks = `\n${`${blank}\n`.repeat(Math.max(0, this.breaks - 1))}`;
		const depth = Math.min(this.lists.length, deepest);
		const indent = '  '.repeat(this.bullet === '' ? depth : Math.max(0, depth - 1));
		this.writtenDepth = quotes;
		return `${breaks}${'> '.repeat(quotes)}${indent}${this.bullet}`;
	}

	private add(text: string): void {
		const count = this.pieces.push(text);
		if (count < (this.corner ? manyPieces : fewPieces)) return;
		this.written += this.pieces.join('');
		this.pieces = [];
		this.corner = undefined;
	}
}

/** Returns one space for any number of them, a no-break space if all are such, and '' for none. */
function spaceOf(text: string): string {
	if (text.includes(' ')) return ' ';
	return /[\u00a0\u2007]/.test(text) ? '\u00a0' : '';
}
