import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TabSeed } from '../../../../dev/google/docs/document';

export type Element = docs_v1.Schema$StructuralElement;
type Run = string | docs_v1.Schema$ParagraphElement;

/** A paragraph of texts and other elements. */
export function paragraph(runs: Run | Run[] = '', more: docs_v1.Schema$Paragraph = {}): Element {
	const elements = [runs]
		.flat()
		.map((run) => (typeof run === 'string' ? { textRun: { content: run } } : run));
	return { paragraph: { elements: [...elements, { textRun: { content: '\n' } }], ...more } };
}

export function heading(text: string, level = 1): Element {
	const headingId = `h.${text.toLowerCase()}`;
	return paragraph(text, { paragraphStyle: { namedStyleType: `HEADING_${level}`, headingId } });
}

export const styled = (content: string, textStyle: docs_v1.Schema$TextStyle) => ({
	textRun: { content, textStyle },
});

export function item(text: string, listId = 'kix.b', nestingLevel = 0): Element {
	return paragraph(text, { bullet: { listId, nestingLevel } });
}

export function table(rows: Array<Array<string | Element[]>>): Element {
	const cell = (content: string | Element[]) => ({
		content: typeof content === 'string' ? [paragraph(content)] : content,
	});
	return { table: { tableRows: rows.map((row) => ({ tableCells: row.map(cell) })) } };
}

export const picture = (embeddedObject: docs_v1.Schema$EmbeddedObject) => ({
	inlineObjectProperties: { embeddedObject },
});
/** Where a picture stands in a paragraph. */
export const pictureAt = (inlineObjectId: string) => ({ inlineObjectElement: { inlineObjectId } });

/** A level of a numbered list. */
const numbered = (glyphType: string, level: number) => ({ glyphType, glyphFormat: `%${level}.` });
export const listOf = (...nestingLevels: docs_v1.Schema$NestingLevel[]) => ({
	listProperties: { nestingLevels },
});
/** A list with the numbers 1, 2 and 3. */
export const numberedList = listOf(numbered('DECIMAL', 0));

const ada = { name: 'Ada Lovelace', email: 'ada@example.com' };
const date = { displayText: 'Sep 9, 2026', timestamp: '2026-09-09T00:00:00Z' };
const plan = { title: 'Plan', uri: 'https://docs.google.com/spreadsheets/d/1' };
const reference = (footnoteNumber: string) => ({
	footnoteReference: { footnoteId: `kix.n${footnoteNumber}`, footnoteNumber },
});
const innerTable = table([
	['n1', 'n2'],
	['n3', 'n4'],
]);

/** Everything that a document can have text in, on three tabs. */
export const richTabs: TabSeed[] = [
	{
		title: 'Main',
		headers: { 'kix.h': [paragraph('The header')] },
		footers: { 'kix.f': [paragraph(['Page ', { autoText: { type: 'PAGE_NUMBER' } }])] },
		footnotes: { 'kix.n2': [paragraph(' Second note')], 'kix.n1': [paragraph(' First note')] },
		lists: {
			'kix.b': listOf({ glyphSymbol: '●' }, { glyphSymbol: '○' }),
			'kix.o': listOf(numbered('DECIMAL', 0), numbered('ALPHA', 1), {
				glyphType: 'ROMAN',
				glyphFormat: '%0.%2)',
			}),
		},
		inlineObjects: {
			'kix.i': picture({
				description: 'A chart',
				imageProperties: { contentUri: 'https://example.com/chart.png' },
			}),
		},
		body: [
			{ tableOfContents: { content: [paragraph('Contents entry')] } },
			heading('Chapter', 1),
			paragraph([
				'Text with ',
				styled('bold', { bold: true }),
				' and a ',
				styled('link', { link: { url: 'https://example.com/' } }),
				' and a note',
				reference('1'),
				'.',
			]),
			paragraph([
				{ person: { personId: 'p', personProperties: ada } },
				' met ',
				{ person: { personId: 'q', personProperties: { email: 'bob@example.com' } } },
				' on ',
				{ dateElement: { dateId: 'd', dateElementProperties: date } },
				' about ',
				{ richLink: { richLinkId: 'r', richLinkProperties: plan } },
			]),
			item('first'),
			item('inner', 'kix.b', 1),
			item('one', 'kix.o'),
			item('two', 'kix.o'),
			item('two a', 'kix.o', 1),
			item('two a i', 'kix.o', 2),
			item('three', 'kix.o'),
			table([
				['Head', 'Other'],
				['cell', [paragraph('two'), paragraph('lines')]],
				[[innerTable, paragraph()], [item('in cell')]],
			]),
			paragraph(['line one\vline two', pictureAt('kix.i')]),
			paragraph({ horizontalRule: {} }),
			paragraph(['Last', reference('2')]),
		],
	},
	{
		title: 'Appendix',
		tabId: 't.app',
		body: [paragraph('Appendix text')],
		children: [
			{ title: 'Details', tabId: 't.det', body: [heading('Detail', 2), paragraph('x = 1')] },
		],
	},
];
