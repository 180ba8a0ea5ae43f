import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { joinSpans } from './blocks';
import * as elements from './elements';

/**
 * Converts tabs to plain text, with a blank line between two tabs. A tab begins with its title, if
 * it has one.
 */
export function documentTabsToText(tabs: readonly elements.TitledTab[]): string {
	const parts = tabs.flatMap((tab) => [tab.tabTitle ?? '', ...readParts(tab)]);
	return parts.filter((part) => part !== '').join('\n\n');
}

/** Reads headers, body, footers and footnotes. */
function readParts(tab: elements.DocumentTab): string[] {
	const read = elements.createParagraphReader(tab);
	const readText = (content: elements.Elements) => readLines(content, read).join('\n');
	const texts = elements.getTabContents(tab).map(readText);
	const footnotes = elements
		.getFootnotes(tab)
		.map(({ number, content }) => `[${number}] ${readText(content).trim()}`);
	return [...texts, ...footnotes];
}

function readLines(content: elements.Elements, read: elements.ParagraphReader): string[] {
	return elements.openFrames(content).flatMap(({ paragraph, table }) => {
		if (paragraph) return readParagraph(paragraph, read);
		return (table?.tableRows ?? []).map((row) => readRow(row, read));
	});
}

function readParagraph(paragraph: elements.Paragraph, read: elements.ParagraphReader): string {
	const { pieces, item } = read(paragraph);
	const text = joinSpans(pieces).replaceAll('\v', '\n');
	return item ? `${'  '.repeat(item.level)}${item.sign} ${text}` : text;
}

/** Puts tab characters between the cells of a row. */
function readRow({ tableCells = [] }: docs_v1.Schema$TableRow, read: elements.ParagraphReader) {
	const cells = tableCells.map(({ content = [] }) => {
		const text = readLines(content, read).join(' ');
		return text.replace(/\s+/g, ' ').trim();
	});
	return cells.join('\t');
}
