/** Most line breaks in a row outside of preformatted text. Further line breaks are left out. */
const maxLineBreaks = 2;
/** Zero-width space and byte order mark, which are never displayed. */
const zeroWidthPattern = /[\u200b\ufeff]/g;
/**
 * Senders pad the preview of an email with spaces and joiners. Inside a text, joiners are part of
 * words and emoji.
 */
const leadingPaddingPattern = /^[ \u034f\u200c\u200d]+/;

/** The text of a page, or of a quote, list item, table or cell in it. */
export class TextBlock {
	readonly #pieces: string[] = [];
	/** Line breaks that its first text wants in front of it. */
	#leadingBreaks = 0;
	/** Line breaks that are written before the next text. */
	#pendingBreaks = 0;
	#hasPendingSpace = false;
	/** The cells of the row that is not written yet. */
	#cells: TextBlock[] | undefined;
	/**
	 * Whether a row had several cells with text. Below it, empty cells get tabs, too, so that the
	 * columns stay.
	 */
	#hasData = false;
	/** Whether a table in it has several lines. A cell with such a table is a column of a page. */
	#isColumn = false;
	readonly #indent: string;
	readonly #marker: string;

	/**
	 * @param indent what its lines begin with in the block around it
	 * @param marker what the first line begins with
	 */
	constructor(indent = '', marker = indent) {
		this.#indent = indent;
		this.#marker = marker;
	}

	get isEmpty(): boolean {
		return this.#pieces.length === 0;
	}

	get pieceCount(): number {
		return this.#pieces.length;
	}

	getText(firstPiece = 0): string {
		return this.#pieces.slice(firstPiece).join('');
	}

	/** Ensures a minimum number of line breaks before the next text. */
	ensureBreaks(count: number): void {
		this.#pendingBreaks = Math.max(this.#pendingBreaks, count);
		this.#hasPendingSpace = false;
	}

	addBreak(isPreformatted: boolean): void {
		const count = this.#pendingBreaks + 1;
		this.ensureBreaks(isPreformatted ? count : Math.min(count, maxLineBreaks));
	}

	/** Writes a text with single spaces. */
	write(text: string): void {
		const line = text.replace(zeroWidthPattern, '').replace(/\s+/g, ' ');
		const [padding = ''] = leadingPaddingPattern.exec(line) ?? [];
		const isInLine = !this.isEmpty && this.#pendingBreaks === 0;
		if (padding.includes(' ')) this.#hasPendingSpace = true;
		// Joiners without a space belong to a word or an emoji.
		else if (padding !== '' && isInLine && !this.#hasPendingSpace) this.append(padding);
		const words = line.slice(padding.length);
		if (words === '') return;
		this.append(words.trimEnd());
		this.#hasPendingSpace = words.endsWith(' ');
	}

	/** Writes a text with its white space and line breaks. */
	writePreformatted(text: string): void {
		for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
			if (index > 0) this.addBreak(true);
			if (line !== '') this.append(line);
		}
	}

	/** Writes a text on the line of the previous text. Pending line breaks are written after it. */
	appendToLine(text: string): void {
		const pendingBreaks = this.#pendingBreaks;
		this.#pendingBreaks = 0;
		this.write(text);
		this.#pendingBreaks = pendingBreaks;
	}

	/** Writes an ended block with what its lines begin with. */
	appendBlock(block: TextBlock): void {
		this.ensureBreaks(block.#leadingBreaks);
		if (!block.isEmpty) this.append(block.#indentText());
		this.ensureBreaks(block.#pendingBreaks);
		if (block.#isColumn) this.#isColumn = true;
	}

	#indentText(): string {
		const text = this.#marker + this.getText();
		// Hundreds of lists or tables in each other are not worth hundreds of looks at each line.
		if (this.#indent === '') return text;
		const lines = text.replaceAll('\n', `\n${this.#indent}`).split('\n');
		return lines.map((line) => line.trimEnd()).join('\n');
	}

	addCell(): TextBlock {
		const cell = new TextBlock();
		(this.#cells ??= []).push(cell);
		return cell;
	}

	/** Writes data beside each other, and what stands in columns of a page below each other. */
	endRow(): void {
		const cells = this.#cells;
		if (!cells) return;
		this.#cells = undefined;
		const hasColumns = cells.some((cell) => cell.#isColumn);
		const filledCells = cells.filter((cell) => !cell.isEmpty);
		if (!hasColumns && filledCells.length > 1) this.#hasData = true;
		if (this.#hasData && !hasColumns) {
			const texts = cells.map((cell) => cell.getText());
			this.append(texts.join('\t').trimEnd());
		} else
			for (const cell of cells) {
				this.ensureBreaks(1);
				this.appendBlock(cell);
			}
		this.ensureBreaks(1);
	}

	endTable(): void {
		this.#isColumn = this.getText().includes('\n');
	}

	/** Writes a text as it is, behind what is pending. */
	append(text: string): void {
		this.endRow();
		if (text === '') return;
		let gap = '';
		if (this.isEmpty) this.#leadingBreaks = this.#pendingBreaks;
		else if (this.#pendingBreaks > 0) gap = '\n'.repeat(this.#pendingBreaks);
		else if (this.#hasPendingSpace) gap = ' ';
		this.#pieces.push(gap + text);
		this.#pendingBreaks = 0;
		this.#hasPendingSpace = false;
	}
}
