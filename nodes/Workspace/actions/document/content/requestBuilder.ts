import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

export type DocsRequest = docs_v1.Schema$Request;
type Kind = keyof DocsRequest;

/** The first index of some content, and the index after its last character. */
export type Extent = Readonly<Record<'start' | 'end', number>>;

/** Collects requests that change one tab, in the order in which Google carries them out. */
export class RequestBuilder {
	readonly requests: DocsRequest[] = [];
	readonly #tabId: string;

	constructor(tabId: string) {
		this.#tabId = tabId;
	}

	/** Adds a request for one place. */
	addAtIndex<K extends Kind>(kind: K, index: number, properties: DocsRequest[K]): void {
		const location = { index, tabId: this.#tabId };
		this.requests.push({ [kind]: { ...properties, location } });
	}

	/**
	 * Adds a request for a range. An empty paragraph has the range of its newline, because Google
	 * refuses an empty range.
	 */
	addForRange<K extends Kind>(
		kind: K,
		{ start, end }: Extent,
		properties?: DocsRequest[K],
	): void {
		const endIndex = Math.max(end, start + 1);
		const range = { startIndex: start, endIndex, tabId: this.#tabId };
		this.requests.push({ [kind]: { range, ...properties } });
	}

	insertText(text: string, index: number): void {
		if (text !== '') this.addAtIndex('insertText', index, { text });
	}

	delete(extent: Extent): void {
		if (extent.start < extent.end) this.addForRange('deleteContentRange', extent);
	}

	/** @param fields the field mask. What it names and the style does not have is reset. */
	styleParagraphs(
		extent: Extent,
		paragraphStyle: docs_v1.Schema$ParagraphStyle,
		fields = Object.keys(paragraphStyle).join(','),
	): void {
		if (fields !== '')
			this.addForRange('updateParagraphStyle', extent, { paragraphStyle, fields });
	}

	/** @param fields the field mask. What it names and the style does not have is reset. */
	styleText(
		extent: Extent,
		textStyle: docs_v1.Schema$TextStyle,
		fields = Object.keys(textStyle).join(','),
	): void {
		if (fields !== '') this.addForRange('updateTextStyle', extent, { textStyle, fields });
	}
}
