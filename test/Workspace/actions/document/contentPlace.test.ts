import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { roundsOf } from '../../../growth';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

type Element = docs_v1.Schema$StructuralElement;

const text = (content: string, more: docs_v1.Schema$Paragraph = {}): Element => ({
	paragraph: { elements: [{ textRun: { content: `${content}\n` } }], ...more },
});

const heading = (content: string, level = 1): Element => {
	const headingId = `h.${content.toLowerCase()}`;
	return text(content, { paragraphStyle: { namedStyleType: `HEADING_${level}`, headingId } });
};

const bullet = (content: string): Element => text(content, { bullet: { listId: 'kix.1' } });

const picture: Element = {
	paragraph: { elements: [{ inlineObjectElement: { inlineObjectId: 'kix.p' } }] },
};

const sectionBreak: Element = { sectionBreak: {} };

const table = (content: string): Element => ({
	table: { tableRows: [{ tableCells: [{ content: [text(content)] }] }] },
});

function seed(body: Element[]): string {
	const lists = { 'kix.1': {} };
	const inlineObjects = {
		'kix.p': { inlineObjectProperties: { embeddedObject: { title: 'chart' } } },
	};
	return calls.google.docs.seed({ title: 'Report', tabs: [{ body, lists, inlineObjects }] });
}

/** The document as Markdown shows it, one line for each block. */
async function blocks(id: string): Promise<string[]> {
	const { content = '' } = await calls.read(id, { format: 'markdown' });
	return content.split(/\n\n+/);
}

/** The headings with their IDs, which links lead to. */
async function headingIds(id: string): Promise<Array<[string, string]>> {
	const { tabs = [] } = await calls.read(id, { format: 'structure' });
	const content = (tabs as docs_v1.Schema$Tab[])[0]?.documentTab?.body?.content ?? [];
	return content.flatMap(({ paragraph }) => {
		const id = paragraph?.paragraphStyle?.headingId;
		return id
			? [[paragraph.elements?.[0]?.textRun?.content?.trim() ?? '', id] as [string, string]]
			: [];
	});
}

const report = () =>
	seed([
		text('Before'),
		heading('Plan'),
		text('old plan'),
		heading('Steps', 2),
		text('old step'),
		heading('Results'),
		text('old results'),
		heading('End'),
		text('bye'),
	]);

describe('Write with a section', () => {
	test('replaces only what stands under the heading, with its lower headings', async () => {
		const id = report();
		const requiredRevisionId = calls.google.docs.revisionOf(id);
		const written = await calls.write(id, { section: 'Plan', content: 'new' });
		const range = { startIndex: 13, endIndex: 16, tabId: 't.0' };
		expect(calls.sent[1]?.body).toEqual({
			requests: [
				{ deleteContentRange: { range: { startIndex: 13, endIndex: 36, tabId: 't.0' } } },
				{ insertText: { text: 'new', location: { index: 13, tabId: 't.0' } } },
				{ deleteParagraphBullets: { range } },
				{ updateParagraphStyle: expect.objectContaining({ range }) as unknown },
				{ updateTextStyle: { range, textStyle: {}, fields: '*' } },
			],
			writeControl: { requiredRevisionId },
		});
		const revisionId = calls.google.docs.revisionOf(id);
		expect(written).toEqual({ documentId: id, characterCount: 3, revisionId });
		const rest = ['# Results', 'old results', '# End', 'bye'];
		expect(await blocks(id)).toEqual(['Before', '# Plan', 'new', ...rest]);
	});

	test('ends at a heading of a higher level', async () => {
		const id = report();
		const content = '- one\n- two';
		await calls.write(id, { section: ' Steps ', content, contentFormat: 'markdown' });
		const rest = ['# Results', 'old results', '# End', 'bye'];
		expect((await blocks(id)).slice(3)).toEqual(['## Steps', content, ...rest]);
	});

	test.each([
		['a list', [bullet('a'), bullet('b')]],
		['a picture', [picture]],
		['a table', [text('a'), table('b'), text('c')]],
		['a table after the heading', [table('b'), text('')]],
		['a table before the next heading', [text('a'), table('b')]],
		['nothing but a table', [table('b')]],
		['a heading of a lower level', [heading('Lower', 3)]],
		['an empty paragraph', [text('')]],
		['nothing', []],
	])('a section of %s, in the middle and at the end', async (_what, inside) => {
		const middle = seed([heading('One'), ...inside, heading('Two'), text('kept')]);
		const last = seed([text('kept'), heading('One'), ...inside]);
		for (const content of [
			'new',
			'# Sub\n\n| a |\n| - |\n| 1 |',
			'| a |\n| - |\n| 1 |\n\nend\n\n- x',
		]) {
			const params = { section: 'One', content, contentFormat: 'markdown' } as const;
			await calls.write(middle, { ...params, content: content.replace('# ', '### ') });
			await calls.write(last, { ...params, content: content.replace('# ', '### ') });
		}
		const expected = ['| a |\n| - |\n| 1 |', 'end', '- x'];
		expect(await blocks(middle)).toEqual(['# One', ...expected, '# Two', 'kept']);
		expect(await blocks(last)).toEqual(['kept', '# One', ...expected]);
		const ids = [
			['One', 'h.one'],
			['Two', 'h.two'],
		];
		expect(await headingIds(middle)).toEqual(ids);
	});

	test.each(['plain', 'two\nlines\n'])(
		'text %j has the look of neither heading',
		async (content) => {
			const id = seed([heading('One'), heading('Two'), bullet('x')]);
			await calls.write(id, { section: 'One', content });
			expect((await calls.read(id)).content).toBe(`One\n${content}\nTwo\n• x`);
			expect(await headingIds(id)).toEqual([
				['One', 'h.one'],
				['Two', 'h.two'],
			]);
		},
	);

	test('keeps the headings of the content below its own, so that the next write finds all of it', async () => {
		const id = report();
		const params = { section: 'Steps', contentFormat: 'markdown' } as const;
		for (const word of ['first', 'second']) {
			await calls.write(id, { ...params, content: `# A\n\n${word}\n\n### B\n\n###### C` });
			const more = { contentFormat: 'markdown', content: '## D' } as const;
			await calls.append(id, { underHeading: 'Steps', ...more });
		}
		const section = ['## Steps', '### A', 'second', '##### B', '###### C', '### D'];
		expect((await blocks(id)).slice(3, 10)).toEqual([...section, '# Results']);
	});

	test('has its heading once, although the content begins with it, as the answer of an agent does', async () => {
		const id = seed([heading('Our  Plan', 2), text('old'), heading('End')]);
		const markdown = { contentFormat: 'markdown', newParagraph: true } as const;
		for (const word of ['first', 'second']) {
			const content = `# Our Plan\n\n- ${word}\n\n## More`;
			await calls.write(id, { contentFormat: 'markdown', section: 'Our Plan', content });
			const more = { underHeading: 'Our Plan', content: '# Our Plan\n\nx' };
			await calls.append(id, { ...markdown, ...more });
		}
		expect(await blocks(id)).toEqual(['## Our  Plan', '- second', '### More', 'x', '# End']);
	});

	test('has no headings of its own below a heading of the lowest level', async () => {
		const id = seed([heading('Deep', 6), text('old'), heading('Next', 6)]);
		const content = '# A\n\n###### B';
		const params = { section: 'Deep', contentFormat: 'markdown', content } as const;
		for (let times = 0; times < 2; times++) await calls.write(id, params);
		expect(await blocks(id)).toEqual(['###### Deep', 'A', 'B', '###### Next']);
	});

	test('is in the tab, by its title', async () => {
		const notes = { title: 'Notes', tabId: 't.n', body: [heading('A'), text('x')] };
		const id = calls.document('first', [notes]);
		await calls.write(id, { tab: 'Notes', section: 'A', content: 'y' });
		expect(calls.google.docs.text(id, 't.n')).toBe('A\ny\n');
		expect(calls.google.docs.text(id)).toBe('first\n');
	});

	test('is emptied only where that is allowed', async () => {
		const id = report();
		const refused = await catchFailure(calls.write(id, { section: 'Results' }));
		expect(refused.code).toBe(400);
		expect(calls.sent).toEqual([]);
		await calls.write(id, { section: 'Results', allowEmpty: true });
		expect((await blocks(id)).slice(-3)).toEqual(['# Results', '# End', 'bye']);
	});
});

test('Write says what it removed that the new content does not bring back', async () => {
	const object = (element: docs_v1.Schema$ParagraphElement): Element => ({
		paragraph: { elements: [element] },
	});
	const note = object({ footnoteReference: { footnoteId: 'f', footnoteNumber: '1' } });
	const cell = { table: { tableRows: [{ tableCells: [{ content: [picture] }] }] } };
	const others = [object({ pageBreak: {} }), sectionBreak, object({ equation: {} })];
	const lost = [note, note, picture, cell, ...others];
	const hintsOf = async (body: Element[], params: object) => {
		const item = testItem();
		await calls.write(seed(body), { content: 'new', ...params }, item);
		return item.hints;
	};
	const expected = [
		'The replaced content also had footnotes, pictures, page breaks, section breaks, equations. To get them back, use the version history of the document.',
	];
	const one = { section: 'One' };
	expect(await hintsOf([heading('One'), ...lost, text('old')], one)).toEqual(expected);
	expect(await hintsOf([text('a'), ...lost, text('old')], {})).toEqual(expected);
	const around = [...lost, heading('One'), text('old'), sectionBreak, heading('Two')];
	expect(await hintsOf(around, one)).toEqual([]);
	expect(await hintsOf([text('a'), table('b'), bullet('c')], {})).toEqual([]);
});

describe.each(['write', 'append'] as const)('%s before a section break', (operation) => {
	const change = async (id: string, contentFormat: 'text' | 'markdown', content = 'new') => {
		const place = operation === 'write' ? { section: 'One' } : { underHeading: 'One' };
		await calls[operation](id, { ...place, content, contentFormat, newParagraph: true });
		const { tabs = [] } = await calls.read(id, { format: 'structure' });
		const elements =
			(tabs as docs_v1.Schema$Tab[])[0]?.documentTab?.body?.content?.slice(1) ?? [];
		return elements.map(({ paragraph, sectionBreak: end }) =>
			end
				? '---'
				: paragraph?.elements?.map(({ textRun }) => textRun?.content?.trim()).join(''),
		);
	};
	const old = operation === 'write' ? [] : ['old'];

	test.each([
		['one', [sectionBreak], ['---']],
		['two', [sectionBreak, sectionBreak], ['---', '---']],
	])('leaves %s behind the new content', async (_, breaks, shown) => {
		const end = [...breaks, heading('Two'), text('kept')];
		for (const format of ['text', 'markdown'] as const) {
			const filled = seed([heading('One'), text('old'), ...end]);
			const rest = [...shown, 'Two', 'kept'];
			expect(await change(filled, format)).toEqual(['One', ...old, 'new', ...rest]);
			const empty = seed([heading('One'), ...end]);
			const added = format === 'text' ? ['new', '', '- a'] : ['new', 'a'];
			expect(await change(empty, format, 'new\n\n- a')).toEqual(['One', ...added, ...rest]);
		}
	});
});

test.each(['results', 'RESULTS', ' Results '])('a heading may be given as %j', async (wanted) => {
	const id = report();
	const content = '# Results\n\nnew';
	await calls.write(id, { section: wanted, content, contentFormat: 'markdown' });
	expect((await blocks(id)).slice(5)).toEqual(['# Results', 'new', '# End', 'bye']);
});

test('of headings that differ only in their case, the exact one counts, and another is refused', async () => {
	const id = seed([heading('Plan'), text('a'), heading('PLAN'), text('b')]);
	await calls.write(id, { section: 'PLAN', content: 'c' });
	expect(calls.google.docs.text(id)).toBe('Plan\na\nPLAN\nc\n');
	const failure = await catchFailure(calls.append(id, { underHeading: 'plan', content: 'd' }));
	expect(failure.message).toBe("The document has more than one heading 'plan'");
});

describe('Append under a heading', () => {
	test('puts text at the end of the section', async () => {
		const id = report();
		await calls.append(id, { underHeading: 'Plan', content: 'more', newParagraph: true });
		const section = ['# Plan', 'old plan', '## Steps', 'old step', 'more'];
		expect((await blocks(id)).slice(0, 6)).toEqual(['Before', ...section]);
	});

	test('continues its last line', async () => {
		const id = report();
		await calls.append(id, { underHeading: 'Results', content: '!', newParagraph: false });
		expect((await calls.read(id)).content).toMatch('old results!\nEnd\nbye');
	});

	test.each([
		['a list', [bullet('a')], ['- a']],
		['a picture', [picture], ['chart']],
		['a table', [table('b')], ['b']],
		['a table and an empty paragraph', [table('b'), text('')], ['b']],
		['an empty paragraph', [text('')], []],
		['nothing', [], []],
	])('after %s, in the middle and at the end', async (_what, inside, shown) => {
		const middle = seed([heading('One'), ...inside, heading('Two'), text('kept')]);
		const last = seed([text('kept'), heading('One'), ...inside]);
		const content = '### Sub\n\n| a |\n| - |\n| 1 |\n\n1. x';
		for (const id of [middle, last]) {
			const item = testItem();
			const more = { contentFormat: 'markdown', newParagraph: true } as const;
			await calls.append(id, { underHeading: 'One', ...more, content }, item);
			expect(item.hints).toEqual([]);
		}
		const expected = [...shown, '### Sub', '| a |\n| - |\n| 1 |', '1. x'];
		expect(await blocks(middle)).toEqual(['# One', ...expected, '# Two', 'kept']);
		expect(await blocks(last)).toEqual(['kept', '# One', ...expected]);
		expect((await headingIds(middle)).at(-1)).toEqual(['Two', 'h.two']);
	});

	test.each([true, false])(
		'never becomes part of a heading, new paragraph: %j',
		async (newParagraph) => {
			const middle = seed([heading('One'), heading('Two')]);
			const last = seed([heading('One')]);
			for (const id of [middle, last]) {
				await calls.append(id, { underHeading: 'One', content: 'text', newParagraph });
			}
			expect(await blocks(middle)).toEqual(['# One', 'text', '# Two']);
			expect(await blocks(last)).toEqual(['# One', 'text']);
		},
	);

	test.each([
		['a lower heading', [heading('One'), heading('Sub', 2)], ['# One', '## Sub'], 'One'],
		['a heading, at the end', [text('a'), heading('Notes', 3)], ['a', '### Notes'], ''],
		[
			'the title of the document',
			[text('Plan', { paragraphStyle: { namedStyleType: 'TITLE' } })],
			['# Plan'],
			'',
		],
	])('is normal text after %s', async (_what, body, shown, underHeading) => {
		const id = seed(body);
		const { characterCount } = await calls.append(id, {
			underHeading,
			content: 'Ann was absent',
			newParagraph: true,
		});
		expect(characterCount).toBe(15);
		expect(await blocks(id)).toEqual([...shown, 'Ann was absent']);
	});

	test('continues a heading if no new paragraph is wanted', async () => {
		const id = seed([heading('Notes')]);
		await calls.append(id, { content: ' of May' });
		expect(await blocks(id)).toEqual(['# Notes of May']);
		expect(calls.sent[1]?.body).toMatchObject({ requests: [{ insertText: {} }] });
	});

	test('happens once for a key, which goes with one heading', async () => {
		const id = report();
		const once = { content: 'once', newParagraph: true, idempotencyKey: 'order 7' };
		const params = { underHeading: 'Plan', ...once };
		const first = await calls.append(id, params);
		expect(await calls.append(id, params)).toEqual({ ...first, repeated: true });
		expect(calls.google.docs.text(id).split('once')).toHaveLength(2);
		const other = await catchFailure(calls.append(id, { ...params, underHeading: 'Results' }));
		expect(other).toMatchObject({ code: 409 });
	});

	test('makes no tab, which would have no headings', async () => {
		const id = report();
		const params = { underHeading: 'Plan', content: 'x', tab: 'New', createTab: true };
		const failure = await catchFailure(calls.append(id, params));
		expect(failure.message).toBe("The document has no tab 'New'");
		expect(calls.methods).toEqual(['get']);
	});
});

describe.each([
	['write', (id: string, section: string) => calls.write(id, { section, content: 'x' })],
	[
		'append',
		(id: string, underHeading: string) => calls.append(id, { underHeading, content: 'x' }),
	],
] as const)('%s', (_name, change) => {
	test('a heading that is missing names those that exist', async () => {
		const first = [heading('Plan'), heading(''), text('Results')];
		const id = seed([...first, heading('Steps', 2), table('Cell')]);
		const failure = await catchFailure(change(id, 'Results'));
		expect(failure).toMatchObject({
			code: 400,
			message: "The document has no heading 'Results'",
			description: "Nothing was written. Headings of the tab: 'Plan', 'Steps'.",
		});
		expect(calls.methods).toEqual(['get']);
	});

	test('a heading that stands there twice is refused', async () => {
		const id = seed([heading('Plan'), text('a'), heading('Plan', 3), text('b')]);
		expect(await catchFailure(change(id, 'Plan'))).toMatchObject({
			code: 400,
			message: "The document has more than one heading 'Plan'",
			description: "Nothing was written. Headings of the tab: 'Plan', 'Plan'.",
		});
		expect(calls.methods).toEqual(['get']);
	});

	test('a document without headings says so, one with many names some', async () => {
		const none = await catchFailure(change(calls.document('text'), 'Plan'));
		expect(none.description).toBe('Nothing was written. Headings of the tab: none.');
		const long = 'long '.repeat(60);
		const many = seed(Array.from({ length: 900 }, (_, at) => heading(`${at} ${long}`)));
		const some = await catchFailure(change(many, 'Plan'));
		const told = /^Nothing was written\. Headings of the tab: '0 long .*'\.$/;
		expect(some.description).toMatch(told);
		expect(some.description?.length).toBeLessThan(3500);
	});

	test('a title counts as a heading, as it does in Markdown', async () => {
		const title = text('My\u00a0report', { paragraphStyle: { namedStyleType: 'TITLE' } });
		const id = seed([title, text('intro'), heading('One')]);
		await change(id, 'My report');
		expect((await blocks(id)).at(-1)).toBe('# One');
	});

	test('is found to be done if the answer was lost, and happens once', async () => {
		const id = report();
		calls.google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
		const written = await change(id, 'Plan');
		const revisionId = calls.google.docs.revisionOf(id);
		expect(written).toMatchObject({ characterCount: 1, revisionId });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	test('is planned again if somebody else changed another part', async () => {
		const id = report();
		const message = "The required revision ID 'x' does not match the latest revision.";
		calls.google.fault({ match: 'docs.documents.batchUpdate', status: 400, message });
		await change(id, 'Plan');
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'get', 'batchUpdate']);
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});
});

/** An element, and its text as stored. */
const anyElement = fc.constantFrom<[Element, string]>(
	[text('words'), 'words\n'],
	[text(''), '\n'],
	[bullet('item'), 'item\n'],
	[table('cell'), 'cell\n'],
	[picture, '\ue907\n'],
	[heading('Low', 5), 'Low\n'],
);
const anySection = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.array(anyElement, { maxLength: 3 }));

test('whatever stands in a section and around it, nothing else of the document changes', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(anySection, { minLength: 1, maxLength: 4 }),
			fc.nat(3),
			fc.constantFrom('one', 'one\ntwo', '- one\n- two', 'one\n\n| a |\n| - |\n| b |\n\ntwo'),
			fc.constantFrom('text', 'markdown'),
			async (sections, place, content, contentFormat) => {
				const own = place % sections.length;
				const depth = sections[own]?.[0] ?? 1;
				const after = sections.findIndex(([level], at) => at > own && level <= depth);
				const end = after < 0 ? sections.length : after;
				const parts = sections.map(([level, inside], at) => ({
					body: [heading(`H${at}`, level), ...inside.map(([element]) => element)],
					text: [`H${at}\n`, ...inside.map(([, stored]) => stored)].join(''),
				}));
				const stored = (from: number, to: number) =>
					parts
						.slice(from, to)
						.map((part) => part.text)
						.join('');
				const ends = parts.at(-1)?.body.at(-1)?.table ? '\n' : '';
				const body = parts.flatMap((part) => part.body);
				const params = { content, contentFormat } as const;
				const written = seed(body);
				await calls.write(written, { ...params, section: `H${own}` });
				const plain = seed([text('')]);
				await calls.write(plain, params);
				const added = calls.google.docs.text(plain);
				const rest = stored(end, parts.length);
				const before = `${stored(0, own)}H${own}\n`;
				const following = rest && rest + ends;
				expect(calls.google.docs.text(written)).toBe(before + added + following);
				const appended = seed(body);
				const under = { underHeading: `H${own}`, newParagraph: true };
				await calls.append(appended, { ...params, ...under });
				const kept = stored(0, end) + (rest ? '' : ends);
				const last = parts[end - 1]?.body.at(-1);
				const isFilled = kept.endsWith('\n\n') && last?.paragraph;
				const left = isFilled || (!rest && ends) ? kept.slice(0, -1) : kept;
				expect(calls.google.docs.text(appended)).toBe(left + added + following);
			},
		),
		{ numRuns: roundsOf(120) },
	);
});

test.each(['Last', ''])(
	'what somebody else changed meanwhile is not overwritten: %j',
	async (section) => {
		const id = seed([heading('One'), text('old'), heading('Last'), text('old')]);
		const message = "The required revision ID 'x' does not match the latest revision.";
		calls.google.fault({ match: 'docs.documents.batchUpdate', status: 400, message });
		const failing = catchFailure(calls.write(id, { section, content: 'mine' }));
		while (!calls.methods.includes('batchUpdate')) await setImmediate();
		calls.google.docs.type(id, ' theirs');
		const told = 'Someone else changed the content while it was being replaced';
		expect(await failing).toMatchObject({ code: 400, message: told });
		expect(calls.google.docs.text(id)).toBe('One\nold\nLast\nold theirs\n');
	},
);
