import type { Random } from './random';

type Element = Readonly<Record<string, unknown>>;
interface Hostile {
	readonly content: readonly Element[];
	readonly lists?: Readonly<Record<string, unknown>>;
	/** The content as JSON, used instead of `content`. */
	readonly json?: string;
}

function paragraph(text: string, more: object = {}, textStyle: object = {}): Element {
	const elements = [
		{ startIndex: 1, endIndex: 1 + text.length, textRun: { content: `${text}\n`, textStyle } },
	];
	return {
		startIndex: 1,
		endIndex: 2 + text.length,
		paragraph: { elements, paragraphStyle: {}, ...more },
	};
}

function table(content: readonly Element[], columns = 1): Element {
	const cells = Array.from({ length: columns }, () => ({
		content,
		tableCellStyle: { rowSpan: 1e9, columnSpan: 1e9 },
	}));
	return {
		startIndex: 1,
		endIndex: 2,
		table: { rows: 1, columns, tableRows: [{ tableCells: cells }] },
	};
}

/** Writes nested tables as text, because JSON.stringify cannot nest so deeply. */
function nestedTables(random: Random): Hostile {
	const depth = random.size(20, 3_000);
	const [before = '', after = ''] = JSON.stringify(table([paragraph('#')])).split(
		JSON.stringify(paragraph('#')),
	);
	return {
		content: [],
		json: `${before.repeat(depth)}${JSON.stringify(paragraph('inside'))}${after.repeat(depth)}`,
	};
}

function listed(random: Random): Hostile {
	const level = {
		startNumber: random.size(1e6, 1e15),
		glyphType: random.pick(['DECIMAL', 'ROMAN', 'ALPHA', 'NONE']),
		glyphFormat: '%0'.repeat(random.size(1, 20_000)),
	};
	const lists = {
		one: { listProperties: { nestingLevels: Array.from({ length: 9 }, () => level) } },
	};
	const content = Array.from({ length: random.size(10, 3_000) }, (_, at) =>
		paragraph(`item ${at}`, {
			bullet: { listId: 'one', nestingLevel: at % random.size(1, 1e9) },
		}),
	);
	return { content, lists };
}

const inMarks = ['*', '_', '`', '[', '](', ')', '<', '|', '\\', '~', '#', ' ', '\v', '!'] as const;

export const documentMakers: ReadonlyArray<(random: Random) => Hostile> = [
	(random) => ({ content: [paragraph(' '.repeat(random.size(1e3, 1e6)))] }),
	(random) => ({
		content: [
			paragraph(`x${' '.repeat(random.size(1e3, 1e5))}y`, {}, { bold: true, italic: true }),
		],
	}),
	nestedTables,
	listed,
	(random) => ({ content: [paragraph(random.text(random.size(1e3, 3e5), inMarks))] }),
	(random) => ({
		content: [
			paragraph(
				random.text(random.size(1e3, 3e5), [
					'\u{e000}',
					'\u{e907}',
					'\u{f8ff}',
					'\u{ffff}',
					'a',
				]),
			),
		],
	}),
	(random) => ({
		content: [
			paragraph(
				'x',
				{},
				{ link: { url: random.text(random.size(1e3, 2e5), ['\\"', '(', ')', '<', ' ']) } },
			),
		],
	}),
	(random) => ({
		content: [
			table(
				[paragraph(random.text(random.size(10, 1e3), ['|', '\\', '\n', '`']))],
				random.size(10, 2_000),
			),
		],
	}),
	(random) => ({
		content: Array.from({ length: random.size(100, 5_000) }, () =>
			paragraph(random.pick(['', ' ', '```', '---', '# x', '1.', '>']), {
				paragraphStyle: { namedStyleType: random.pick(['HEADING_6', 'TITLE', 'x']) },
			}),
		),
	}),
	(random) => ({
		content: Array.from({ length: random.size(100, 3_000) }, () =>
			paragraph(
				random.pick(['`', '``', 'x', '\\']),
				{},
				{ weightedFontFamily: { fontFamily: 'Courier New' }, bold: random.next() > 0.5 },
			),
		),
	}),
	(random) => ({
		content: [
			{
				paragraph: {
					elements: Array.from({ length: random.size(10, 10_000) }, () => ({
						inlineObjectElement: { inlineObjectId: '__proto__' },
					})),
				},
			},
		],
	}),
];

/** Builds the answer to a read of the document. */
export function documentResource(
	documentId: string,
	{ content, lists = {}, json }: Hostile,
): string {
	const documentTab = {
		lists,
		headers: {},
		footers: {},
		footnotes: {},
		body: { content: json ? '@' : content },
	};
	const tabs = [
		{ tabProperties: { tabId: 't.0', title: 'Tab', index: 0 }, childTabs: [], documentTab },
	];
	const resource = JSON.stringify({ documentId, title: 'Hostile', revisionId: 'r', tabs });
	return json ? resource.replace('"@"', `[${json}]`) : resource;
}
