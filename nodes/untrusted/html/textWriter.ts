/** Deeper quotes and lists look like this depth, so that the prefix of a line has a limited length. */
const deepest = 5;

const spaces = /[ \t\r\n\f\u200b]+/g;

/**
 * Collects text: runs of spaces become one space, line breaks are written only before more text, and quotes
 * and lists get their marks.
 */
export class TextWriter {
	quoteDepth = 0;
	preDepth = 0;
	/** Number of characters so far. */
	length = 0;
	private readonly chunks: string[] = [];
	/**
	 * Not joined yet. Many are joined at a time, because millions of small strings would take many times the
	 * memory of one.
	 */
	private pieces: string[] = [];
	private recorded = '';
	private mostRecorded = 0;
	/** The next number of each open list; NaN for one with bullets. */
	private readonly lists: number[] = [];
	private breaks = 0;
	/** What is written before the next text on the line. */
	private gap: '' | ' ' | '\t' = '';
	private bullet = '';
	private writtenDepth = 0;

	get isInList(): boolean {
		return this.lists.length > 0;
	}

	text(): string {
		return [...this.chunks, ...this.pieces].join('').trim();
	}

	/** Starts recording the text for `record`, up to about `most` characters. */
	startRecord(most: number): void {
		this.recorded = '';
		this.mostRecorded = most;
	}

	record(): string {
		const { recorded } = this;
		this.startRecord(0);
		return recorded;
	}

	/** Ensures that the next text starts at least this many lines further down. */
	atLeast(breaks: number): void {
		this.breaks = Math.max(this.breaks, breaks);
		this.gap = '';
	}

	newLine(): void {
		this.breaks++;
		this.gap = '';
	}

	nextCell(): void {
		if (this.breaks === 0 && this.length > 0) this.gap = '\t';
	}

	/** @param start first number of a numbered list; undefined for bullets */
	openList(start: number | undefined): void {
		const first = Number.isSafeInteger(start) ? start : 1;
		this.lists.push(start === undefined || first === undefined ? NaN : first);
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
		if (this.preDepth > 0) this.writeLines(text.split(/\r\n?|\n/));
		else this.writeWords(text.replace(spaces, ' '));
	}

	private writeLines(lines: readonly string[]): void {
		for (const [at, line] of lines.entries()) {
			if (at > 0) this.newLine();
			if (line !== '') this.push(line);
		}
	}

	private writeWords(text: string): void {
		const words = text.startsWith(' ') ? text.slice(1) : text;
		if (words !== text && this.gap === '') this.gap = ' ';
		if (words === '') return;
		const endsApart = words.endsWith(' ');
		this.push(endsApart ? words.slice(0, -1) : words);
		if (endsApart) this.gap = ' ';
	}

	private push(text: string): void {
		this.add(this.length === 0 || this.breaks > 0 ? this.lineStart() : this.gap);
		this.add(text);
		this.breaks = 0;
		this.gap = '';
		this.bullet = '';
	}

	private lineStart(): string {
		const quotes = Math.min(this.quoteDepth, deepest);
		const blank = '> '.repeat(Math.min(quotes, this.writtenDepth)).trimEnd();
		const breaks = this.length === 0 ? '' : `\n${`${blank}\n`.repeat(Math.max(0, this.breaks - 1))}`;
		const depth = Math.min(this.lists.length, deepest);
		const indent = '  '.repeat(this.bullet === '' ? depth : Math.max(0, depth - 1));
		this.writtenDepth = quotes;
		return `${breaks}${'> '.repeat(quotes)}${indent}${this.bullet}`;
	}

	private add(text: string): void {
		this.length += text.length;
		if (this.recorded.length < this.mostRecorded) this.recorded += text;
		if (this.pieces.push(text) < 1000) return;
		this.chunks.push(this.pieces.join(''));
		this.pieces = [];
	}
}
