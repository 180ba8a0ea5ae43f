import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { getLength, type Entry, type Paragraph, type Run, type Segment } from './segment.ts';

type Element = docs_v1.Schema$StructuralElement;

/** Renders a segment in Google's form, with indexes. Without suggestions, suggested insertions are left out. */
export function render(segment: Segment, withoutSuggestions: boolean): Element[] {
	const entries = withoutSuggestions ? segment.entries.map(removeSuggestions) : segment.entries;
	return new EntryReader(entries).readContent();
}

function removeSuggestions(entry: Entry): Entry {
	if (entry.kind !== 'paragraph') return entry;
	const runs = entry.runs
		.filter((run) => run.suggested?.insertion === undefined)
		.map((run) => ({ ...run, suggested: undefined }));
	return { ...entry, runs };
}

/** Google omits a zero. */
function buildIndexes(
	startIndex: number,
	endIndex: number,
): { startIndex?: number; endIndex: number } {
	return startIndex === 0 ? { endIndex } : { startIndex, endIndex };
}

class EntryReader {
	private readonly entries: readonly Entry[];
	private at = 0;
	private index = 0;

	constructor(entries: readonly Entry[]) {
		this.entries = entries;
	}

	private get kind(): Entry['kind'] | undefined {
		return this.entries[this.at]?.kind;
	}

	private take(): void {
		const entry = this.entries[this.at++];
		if (entry !== undefined) this.index += getLength(entry);
	}

	readContent(): Element[] {
		const elements: Element[] = [];
		for (;;) {
			const start = this.index;
			const element = this.readElement(start);
			if (element === undefined) return elements;
			elements.push({ ...buildIndexes(start, this.index), ...element });
		}
	}

	/** Returns undefined at an entry that ends the content. */
	private readElement(start: number): Element | undefined {
		const entry = this.entries[this.at];
		switch (entry?.kind) {
			case 'paragraph':
				this.take();
				return { paragraph: renderParagraph(entry, start) };
			case 'tableStart':
				return { table: this.readTable() };
			case 'tocStart': {
				this.take();
				const content = this.readContent();
				this.take();
				return { tableOfContents: { content } };
			}
			case 'sectionBreak':
				this.take();
				return { sectionBreak: { sectionStyle } };
			default:
				return undefined;
		}
	}

	private readTable(): docs_v1.Schema$Table {
		this.take();
		const tableRows: docs_v1.Schema$TableRow[] = [];
		while (this.kind === 'rowStart') tableRows.push(this.readRow());
		this.take();
		const columns = tableRows[0]?.tableCells?.length ?? 0;
		const tableColumnProperties = Array.from({ length: columns }, () => ({
			widthType: 'EVENLY_DISTRIBUTED',
		}));
		return {
			rows: tableRows.length,
			columns,
			tableRows,
			tableStyle: { tableColumnProperties },
		};
	}

	private readRow(): docs_v1.Schema$TableRow {
		const startIndex = this.index;
		this.take();
		const tableCells: docs_v1.Schema$TableCell[] = [];
		while (this.kind === 'cellStart') {
			const cell = { startIndex: this.index, tableCellStyle: {} };
			this.take();
			const content = this.readContent();
			tableCells.push({ ...cell, endIndex: this.index, content });
		}
		return { startIndex, endIndex: this.index, tableCells, tableRowStyle: {} };
	}
}

const sectionStyle: docs_v1.Schema$SectionStyle = {
	columnSeparatorStyle: 'NONE',
	contentDirection: 'LEFT_TO_RIGHT',
	sectionType: 'CONTINUOUS',
};

function renderParagraph(paragraph: Paragraph, start: number): docs_v1.Schema$Paragraph {
	let index = start;
	const elements = paragraph.runs.map((run) => {
		const runStart = index;
		index += run.text.length;
		return { ...buildIndexes(runStart, index), ...renderRun(run) };
	});
	const usual = { direction: 'LEFT_TO_RIGHT', namedStyleType: 'NORMAL_TEXT' };
	const rendered = { elements, paragraphStyle: { ...usual, ...paragraph.style } };
	if (paragraph.bullet === undefined) return rendered;
	const { listId, nestingLevel } = paragraph.bullet;
	const bullet = { listId, textStyle: {}, ...(nestingLevel > 0 && { nestingLevel }) };
	return { ...rendered, bullet };
}

function renderRun(run: Run): docs_v1.Schema$ParagraphElement {
	if (run.object !== undefined) return run.object;
	const textRun: docs_v1.Schema$TextRun = { content: run.text, textStyle: run.style };
	if (run.suggested?.insertion !== undefined)
		textRun.suggestedInsertionIds = run.suggested.insertion;
	if (run.suggested?.deletion !== undefined)
		textRun.suggestedDeletionIds = run.suggested.deletion;
	return { textRun };
}

/** Converts content in Google's form to entries, the inverse of `render`. Indexes are ignored. */
export function parseEntries(content: readonly Element[]): Entry[] {
	return content.flatMap((element): Entry[] => {
		if (element.paragraph) return [parseParagraph(element.paragraph)];
		if (element.tableOfContents) {
			const entries = parseEntries(element.tableOfContents.content ?? []);
			return [{ kind: 'tocStart' }, ...entries, { kind: 'tocEnd' }];
		}
		if (element.sectionBreak) return [{ kind: 'sectionBreak' }];
		const rows = (element.table?.tableRows ?? []).flatMap(parseRow);
		return [{ kind: 'tableStart' }, ...rows, { kind: 'tableEnd' }];
	});
}

function parseRow({ tableCells = [] }: docs_v1.Schema$TableRow): Entry[] {
	const cells = tableCells.flatMap(({ content = [] }): Entry[] => [
		{ kind: 'cellStart' },
		...parseEntries(content),
	]);
	return [{ kind: 'rowStart' }, ...cells];
}

function parseParagraph({ elements, paragraphStyle, bullet }: docs_v1.Schema$Paragraph): Paragraph {
	const runs = (elements ?? []).map(parseRun);
	const lastRun = runs.at(-1);
	if (lastRun === undefined || lastRun.object !== undefined || !lastRun.text.endsWith('\n'))
		runs.push({ text: '\n', style: {} });
	const paragraph: Paragraph = { kind: 'paragraph', runs, style: { ...paragraphStyle } };
	if (bullet?.listId)
		paragraph.bullet = { listId: bullet.listId, nestingLevel: bullet.nestingLevel ?? 0 };
	return paragraph;
}

function parseRun(element: docs_v1.Schema$ParagraphElement): Run {
	const { textRun } = element;
	if (!textRun) return { text: '\ue907', style: {}, object: element };
	const run: Run = { text: textRun.content ?? '', style: { ...textRun.textStyle } };
	const { suggestedInsertionIds: insertion, suggestedDeletionIds: deletion } = textRun;
	if (insertion || deletion) {
		run.suggested = { ...(insertion && { insertion }), ...(deletion && { deletion }) };
	}
	return run;
}
