import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { TabSeed } from '../../../../dev/google/docs/document';

type Element = docs_v1.Schema$StructuralElement;
type Run = string | docs_v1.Schema$ParagraphElement;

export function paragraph(runs: Run | Run[], more: docs_v1.Schema$Paragraph = {}): Element {
	const elements = [runs]
		.flat()
		.map((run) => (typeof run === 'string' ? { textRun: { content: run } } : run));
	return { paragraph: { elements: [...elements, { textRun: { content: '\n' } }], ...more } };
}

export function heading(text: string, level: number): Element {
	return paragraph(text, { paragraphStyle: { namedStyleType: `HEADING_${level}` } });
}

function styled(
	content: string,
	textStyle: docs_v1.Schema$TextStyle,
): docs_v1.Schema$ParagraphElement {
	return { textRun: { content, textStyle } };
}

function item(text: string, listId: string, nestingLevel = 0): Element {
	return paragraph(text, { bullet: { listId, nestingLevel } });
}

export function table(rows: Array<Array<string | Element[]>>): Element {
	const cell = (content: string | Element[]) => ({
		content: typeof content === 'string' ? [paragraph(content)] : content,
	});
	return { table: { tableRows: rows.map((row) => ({ tableCells: row.map(cell) })) } };
}

const numbered = (glyphType: string, level: number) => ({ glyphType, glyphFormat: `%${level}.` });

/** Everything that a document can have text in, on three tabs. */
export const richTabs: TabSeed[] = [
	{
		title: 'Main',
		headers: { 'kix.h': [paragraph('The header')] },
		footers: { 'kix.f': [paragraph(['Page ', { autoText: { type: 'PAGE_NUMBER' } }])] },
		footnotes: { 'kix.n2': [paragraph(' Second note')], 'kix.n1': [paragraph(' First note')] },
		lists: {
			'kix.b': {
				listProperties: { nestingLevels: [{ glyphSymbol: '●' }, { glyphSymbol: '○' }] },
			},
			'kix.o': {
				listProperties: {
					nestingLevels: [
						numbered('DECIMAL', 0),
						numbered('ALPHA', 1),
						{ glyphType: 'ROMAN', glyphFormat: '%0.%2)' },
					],
				},
			},
		},
		inlineObjects: {
			'kix.i': {
				inlineObjectProperties: {
					embeddedObject: {
						description: 'A chart',
						imageProperties: { contentUri: 'https://example.com/chart.png' },
					},
				},
			},
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
				{ footnoteReference: { footnoteId: 'kix.n1', footnoteNumber: '1' } },
				'.',
			]),
			paragraph([
				{
					person: {
						personId: 'p',
						personProperties: { name: 'Ada Lovelace', email: 'ada@example.com' },
					},
				},
				' met ',
				{ person: { personId: 'q', personProperties: { email: 'bob@example.com' } } },
				' on ',
				{
					dateElement: {
						dateId: 'd',
						dateElementProperties: {
							displayText: 'Sep 9, 2026',
							timestamp: '2026-09-09T00:00:00Z',
						},
					},
				},
				' about ',
				{
					richLink: {
						richLinkId: 'r',
						richLinkProperties: {
							title: 'Plan',
							uri: 'https://docs.google.com/spreadsheets/d/1',
						},
					},
				},
			]),
			item('first', 'kix.b'),
			item('inner', 'kix.b', 1),
			item('one', 'kix.o'),
			item('two', 'kix.o'),
			item('two a', 'kix.o', 1),
			item('two a i', 'kix.o', 2),
			item('three', 'kix.o'),
			table([
				['Head', 'Other'],
				['cell', [paragraph('two'), paragraph('lines')]],
				[
					[
						table([
							['n1', 'n2'],
							['n3', 'n4'],
						]),
						paragraph(''),
					],
					[item('in cell', 'kix.b')],
				],
			]),
			paragraph(['line one\vline two', { inlineObjectElement: { inlineObjectId: 'kix.i' } }]),
			paragraph({ horizontalRule: {} }),
			paragraph([
				'Last',
				{ footnoteReference: { footnoteId: 'kix.n2', footnoteNumber: '2' } },
			]),
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
