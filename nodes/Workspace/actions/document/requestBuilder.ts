import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

export type DocsRequest = docs_v1.Schema$Request;

/** The first index of some content, and the index after its last character. */
export type Extent = Readonly<Record<'start' | 'end', number>>;

/** Collects requests that change one tab, in the order in which Google carries them out. */
export class RequestBuilder {
	readonly requests: DocsRequest[] = [];
	readonly #tabId: string | undefined;

	/** @param tabId undefined for the first tab */
	constructor(tabId: string | undefined) {
		this.#tabId = tabId;
	}

	insertText(text: string, index: number): void {
		if (text === '') return;
		this.requests.push({ insertText: { text, location: this.#locate(index) } });
	}

	insertTable(rows: number, columns: number, index: number): void {
		this.requests.push({ insertTable: { rows, columns, location: this.#locate(index) } });
	}

	insertImage(uri: string, index: number): void {
		this.requests.push({ insertInlineImage: { uri, location: this.#locate(index) } });
	}

	delete({ start, end }: Extent): void {
		if (start === end) return;
		const range = { startIndex: start, endIndex: end, tabId: this.#tabId };
		this.requests.push({ deleteContentRange: { range } });
	}

	/** @param fields what to set, in place of the properties of the style */
	styleParagraphs(
		extent: Extent,
		paragraphStyle: docs_v1.Schema$ParagraphStyle,
		fields = Object.keys(paragraphStyle).join(','),
	): void {
		const range = this.#rangeOf(extent);
		if (fields) this.requests.push({ updateParagraphStyle: { range, paragraphStyle, fields } });
	}

	/** @param fields what to set, in place of the properties of the style */
	styleText(
		extent: Extent,
		textStyle: docs_v1.Schema$TextStyle,
		fields = Object.keys(textStyle).join(','),
	): void {
		const range = this.#rangeOf(extent);
		if (fields) this.requests.push({ updateTextStyle: { range, textStyle, fields } });
	}

	addBullets(extent: Extent, bulletPreset: string): void {
		const range = this.#rangeOf(extent);
		this.requests.push({ createParagraphBullets: { range, bulletPreset } });
	}

	removeBullets(extent: Extent): void {
		this.requests.push({ deleteParagraphBullets: { range: this.#rangeOf(extent) } });
	}

	#locate = (index: number): docs_v1.Schema$Location => ({ index, tabId: this.#tabId });

	/** Returns the range of a text. An empty paragraph has the range of its newline, because Google refuses an empty range. */
	#rangeOf({ start, end }: Extent): docs_v1.Schema$Range {
		return { startIndex: start, endIndex: Math.max(end, start + 1), tabId: this.#tabId };
	}
}
