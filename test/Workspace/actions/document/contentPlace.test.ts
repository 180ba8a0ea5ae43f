import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { roundsOf } from '../../../growth';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';
import { type Element, heading, item as bullet, paragraph, pictureAt, table } from './elements';

const calls = new Calls();

const picture = paragraph(pictureAt('kix.p'));
const sectionBreak: Element = { sectionBreak: {} };
const cell = (text: string) => table([[text]]);
const title = (text: string) => paragraph(text, { paragraphStyle: { namedStyleType: 'TITLE' } });

async function elementsOf(id: string): Promise<Element[]> {
	const { tabs = [] } = await calls.read(id, { format: 'structure' });
	return (tabs as docs_v1.Schema$Tab[])[0]?.documentTab?.body?.content ?? [];
}

const textOf = ({ elements = [] }: docs_v1.Schema$Paragraph) =>
	elements.map(({ textRun }) => textRun?.content?.trim()).join('');

/** The headings with their IDs, which links lead to. */
async function headingIds(id: string): Promise<Array<[string, string]>> {
	return (await elementsOf(id)).flatMap(({ paragraph: one = {} }) => {
		const { headingId } = one.paragraphStyle ?? {};
		return headingId ? [[textOf(one), headingId] as [string, string]] : [];
	});
}

/** The headings One and Two, still with their own IDs. */
const oneAndTwo = [
	['One', 'h.one'],
	['Two', 'h.two'],
];

const report = () =>
	calls.seed(
		paragraph('Before'),
		heading('Plan'),
		paragraph('old plan'),
		heading('Steps', 2),
		paragraph('old step'),
		heading('Results'),
		paragraph('old results'),
		heading('End'),
		paragraph('bye'),
	);

/** The section One with these elements, once with another section behind it and once at the end. */
const middleAndLast = (inside: Element[]) => ({
	middle: calls.seed(heading('One'), ...inside, heading('Two'), paragraph('kept')),
	last: calls.seed(paragraph('kept'), heading('One'), ...inside),
});

describe('Write with a section', () => {
	test('replaces only what stands under the heading, with its lower headings', async () => {
		const id = report();
		const requiredRevisionId = calls.google.docs.revisionOf(id);
		const written = await calls.write(id, { section: 'Plan', content: 'new' });
		const range = { startIndex: 13, endIndex: 16, tabId: 't.0' };
		expect(calls.sent[1]?.body).toEqual({
			requests: [
				{ deleteContentRange: { range: { ...range, endIndex: 36 } } },
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
		expect(await calls.blocks(id)).toEqual(['Before', '# Plan', 'new', ...rest]);
	});

	test('ends at a heading of a higher level', async () => {
		const id = report();
		const content = '- one\n- two';
		await calls.write(id, { section: ' Steps ', content, contentFormat: 'markdown' });
		const rest = ['# Results', 'old results', '# End', 'bye'];
		expect((await calls.blocks(id)).slice(3)).toEqual(['## Steps', content, ...rest]);
	});

	test.each([
		['a list', [bullet('a'), bullet('b')]],
		['a picture', [picture]],
		['a table', [paragraph('a'), cell('b'), paragraph('c')]],
		['a table after the heading', [cell('b'), paragraph()]],
		['a table before the next heading', [paragraph('a'), cell('b')]],
		['nothing but a table', [cell('b')]],
		['a heading of a lower level', [heading('Lower', 3)]],
		['an empty paragraph', [paragraph()]],
		['nothing', []],
	])('a section of %s, in the middle and at the end', async (_what, inside) => {
		const { middle, last } = middleAndLast(inside);
		const table = '| a |\n| - |\n| 1 |';
		for (const content of ['new', `### Sub\n\n${table}`, `${table}\n\nend\n\n- x`]) {
			const params = { section: 'One', content, contentFormat: 'markdown' } as const;
			await calls.write(middle, params);
			await calls.write(last, params);
		}
		expect(await calls.blocks(middle)).toEqual(['# One', table, 'end', '- x', '# Two', 'kept']);
		expect(await calls.blocks(last)).toEqual(['kept', '# One', table, 'end', '- x']);
		expect(await headingIds(middle)).toEqual(oneAndTwo);
	});

	test.each(['plain', 'two\nlines\n'])(
		'text %j has the look of neither heading',
		async (content) => {
			const id = calls.seed(heading('One'), heading('Two'), bullet('x'));
			await calls.write(id, { section: 'One', content });
			expect((await calls.read(id)).content).toBe(`One\n${content}\nTwo\n• x`);
			expect(await headingIds(id)).toEqual(oneAndTwo);
		},
	);

	test('keeps the headings of the content below its own, so that the next write finds all of it', async () => {
		const id = report();
		const markdown = { contentFormat: 'markdown' } as const;
		for (const word of ['first', 'second']) {
			const content = `# A\n\n${word}\n\n### B\n\n###### C`;
			await calls.write(id, { ...markdown, section: 'Steps', content });
			await calls.append(id, { ...markdown, underHeading: 'Steps', content: '## D' });
		}
		const section = ['## Steps', '### A', 'second', '##### B', '###### C', '### D'];
		expect((await calls.blocks(id)).slice(3, 10)).toEqual([...section, '# Results']);
	});

	test('has its heading once, although the content begins with it, as the answer of an agent does', async () => {
		const id = calls.seed(heading('Our  Plan', 2), paragraph('old'), heading('End'));
		const markdown = { contentFormat: 'markdown', newParagraph: true } as const;
		for (const word of ['first', 'second']) {
			const content = `# Our Plan\n\n- ${word}\n\n## More`;
			await calls.write(id, { contentFormat: 'markdown', section: 'Our Plan', content });
			const more = { underHeading: 'Our Plan', content: '# Our Plan\n\nx' };
			await calls.append(id, { ...markdown, ...more });
		}
		const shown = ['## Our  Plan', '- second', '### More', 'x', '# End'];
		expect(await calls.blocks(id)).toEqual(shown);
	});

	test('has no headings of its own below a heading of the lowest level', async () => {
		const id = calls.seed(heading('Deep', 6), paragraph('old'), heading('Next', 6));
		const content = '# A\n\n###### B';
		const params = { section: 'Deep', contentFormat: 'markdown', content } as const;
		for (let times = 0; times < 2; times++) await calls.write(id, params);
		expect(await calls.blocks(id)).toEqual(['###### Deep', 'A', 'B', '###### Next']);
	});

	test('is emptied only where that is allowed', async () => {
		const id = report();
		const refused = await catchFailure(calls.write(id, { section: 'Results' }));
		expect(refused.code).toBe(400);
		expect(calls.sent).toEqual([]);
		await calls.write(id, { section: 'Results', allowEmpty: true });
		expect((await calls.blocks(id)).slice(-3)).toEqual(['# Results', '# End', 'bye']);
	});

	test('is in the tab, by its title', async () => {
		const id = calls.withNotes('first', heading('A'), paragraph('x'));
		await calls.write(id, { tab: 'Notes', section: 'A', content: 'y' });
		expect([calls.text(id), calls.text(id, 't.n')]).toEqual(['first\n', 'A\ny\n']);
	});
});

describe('what Write removed and the new content does not bring back', () => {
	const note = { footnoteReference: { footnoteId: 'f', footnoteNumber: '1' } };
	const lost = [
		...[paragraph(note), paragraph(note), picture, table([[[picture]]])],
		...[paragraph({ pageBreak: {} }), sectionBreak, paragraph({ equation: {} })],
	];
	const old = paragraph('old');
	const one = heading('One');

	const told = [
		'The replaced content also had footnotes, pictures, page breaks, section breaks, equations. To get them back, use the version history of the document.',
	];

	test.each<[string, Element[], string, string[]]>([
		['in the section: told', [one, ...lost, old], 'One', told],
		['in the document: told', [paragraph('a'), ...lost, old], '', told],
		['around the section', [...lost, one, old, sectionBreak, heading('Two')], 'One', []],
		['text, tables and lists', [paragraph('a'), cell('b'), bullet('c')], '', []],
	])('%s', async (_what, body, section, hints) => {
		const item = testItem();
		await calls.write(calls.seed(...body), { section, content: 'new' }, item);
		expect(item.hints).toEqual(hints);
	});
});

describe.each(['write', 'append'] as const)('%s before a section break', (operation) => {
	const change = async (id: string, contentFormat: 'text' | 'markdown', content = 'new') => {
		const place = operation === 'write' ? { section: 'One' } : { underHeading: 'One' };
		await calls[operation](id, { ...place, content, contentFormat, newParagraph: true });
		const [, ...elements] = await elementsOf(id);
		return elements.map((one) => (one.sectionBreak ? '---' : textOf(one.paragraph ?? {})));
	};
	const old = operation === 'write' ? [] : ['old'];

	test.each([
		['one', [sectionBreak], ['---']],
		['two', [sectionBreak, sectionBreak], ['---', '---']],
	])('leaves %s behind the new content', async (_, breaks, shown) => {
		const end = [...breaks, heading('Two'), paragraph('kept')];
		for (const format of ['text', 'markdown'] as const) {
			const filled = calls.seed(heading('One'), paragraph('old'), ...end);
			const rest = [...shown, 'Two', 'kept'];
			expect(await change(filled, format)).toEqual(['One', ...old, 'new', ...rest]);
			const empty = calls.seed(heading('One'), ...end);
			const added = format === 'text' ? ['new', '', '- a'] : ['new', 'a'];
			expect(await change(empty, format, 'new\n\n- a')).toEqual(['One', ...added, ...rest]);
		}
	});
});

test.each(['results', 'RESULTS', ' Results '])('a heading may be given as %j', async (section) => {
	const id = report();
	const content = '# Results\n\nnew';
	await calls.write(id, { section, content, contentFormat: 'markdown' });
	expect((await calls.blocks(id)).slice(5)).toEqual(['# Results', 'new', '# End', 'bye']);
});

test('of headings that differ only in their case, the exact one counts, and another is refused', async () => {
	const id = calls.seed(heading('Plan'), paragraph('a'), heading('PLAN'), paragraph('b'));
	await calls.write(id, { section: 'PLAN', content: 'c' });
	expect(calls.text(id)).toBe('Plan\na\nPLAN\nc\n');
	const failure = await catchFailure(calls.append(id, { underHeading: 'plan', content: 'd' }));
	expect(failure.message).toBe("The document has more than one heading 'plan'");
});

describe('Append under a heading', () => {
	test.each([
		['a list', [bullet('a')], ['- a']],
		['a picture', [picture], ['chart']],
		['a table', [cell('b')], ['b']],
		['a table and an empty paragraph', [cell('b'), paragraph()], ['b']],
		['an empty paragraph', [paragraph()], []],
		['nothing', [], []],
	])('after %s, in the middle and at the end', async (_what, inside, shown) => {
		const { middle, last } = middleAndLast(inside);
		const parts = ['### Sub', '| a |\n| - |\n| 1 |', '1. x'];
		for (const id of [middle, last]) {
			const item = testItem();
			const more = { contentFormat: 'markdown', newParagraph: true } as const;
			const content = parts.join('\n\n');
			await calls.append(id, { underHeading: 'One', ...more, content }, item);
			expect(item.hints).toEqual([]);
		}
		const section = ['# One', ...shown, ...parts];
		expect(await calls.blocks(middle)).toEqual([...section, '# Two', 'kept']);
		expect(await calls.blocks(last)).toEqual(['kept', ...section]);
		expect((await headingIds(middle)).at(-1)).toEqual(['Two', 'h.two']);
	});

	test.each([true, false])(
		'never becomes part of a heading, new paragraph: %j',
		async (newParagraph) => {
			const middle = calls.seed(heading('One'), heading('Two'));
			const last = calls.seed(heading('One'));
			for (const id of [middle, last])
				await calls.append(id, { underHeading: 'One', content: 'text', newParagraph });
			expect(await calls.blocks(middle)).toEqual(['# One', 'text', '# Two']);
			expect(await calls.blocks(last)).toEqual(['# One', 'text']);
		},
	);

	test.each([
		['a lower heading', [heading('One'), heading('Sub', 2)], ['# One', '## Sub'], 'One'],
		['a heading, at the end', [paragraph('a'), heading('Notes', 3)], ['a', '### Notes'], ''],
		['the title of the document', [title('Plan')], ['# Plan'], ''],
	])('is normal text after %s', async (_what, body, shown, underHeading) => {
		const id = calls.seed(...body);
		const params = { underHeading, content: 'Ann was absent', newParagraph: true };
		expect(await calls.append(id, params)).toMatchObject({ characterCount: 15 });
		expect(await calls.blocks(id)).toEqual([...shown, 'Ann was absent']);
	});

	test('continues a heading if no new paragraph is wanted', async () => {
		const id = calls.seed(heading('Notes'));
		await calls.append(id, { content: ' of May' });
		expect(await calls.blocks(id)).toEqual(['# Notes of May']);
		expect(calls.sent[1]?.body).toMatchObject({ requests: [{ insertText: {} }] });
	});

	test('happens once for a key, which goes with one heading', async () => {
		const id = report();
		const once = { content: 'once', newParagraph: true, idempotencyKey: 'order 7' };
		const params = { underHeading: 'Plan', ...once };
		const first = await calls.append(id, params);
		expect(await calls.append(id, params)).toEqual({ ...first, repeated: true });
		expect(calls.text(id).split('once')).toHaveLength(2);
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

	test('puts text at the end of the section, behind its lower headings, or continues its last line', async () => {
		const id = report();
		await calls.append(id, { underHeading: 'Plan', content: 'more', newParagraph: true });
		await calls.append(id, { underHeading: 'Results', content: '!', newParagraph: false });
		const plan = ['# Plan', 'old plan', '## Steps', 'old step', 'more'];
		const rest = ['# Results', 'old results!', '# End', 'bye'];
		expect(await calls.blocks(id)).toEqual(['Before', ...plan, ...rest]);
	});
});

const content = 'x';
describe.each([
	['write', (id: string, section: string) => calls.write(id, { section, content })],
	['append', (id: string, underHeading: string) => calls.append(id, { underHeading, content })],
] as const)('%s', (_name, change) => {
	test.each([
		[
			'is missing',
			[heading('Plan'), heading(''), paragraph('Results'), heading('Steps', 2), cell('Cell')],
			"The document has no heading 'Results'",
			"'Plan', 'Steps'",
		],
		[
			'stands there twice',
			[heading('Results'), paragraph('a'), heading('Results', 3), paragraph('b')],
			"The document has more than one heading 'Results'",
			"'Results', 'Results'",
		],
		[
			'is missing in a document without headings',
			[paragraph('text')],
			"The document has no heading 'Results'",
			'none',
		],
	])('a heading that %s is refused, and those that exist are named', async (...row) => {
		const [, body, message, names] = row;
		const failure = await catchFailure(change(calls.seed(...body), 'Results'));
		const description = `Nothing was written. Headings of the tab: ${names}.`;
		expect(failure).toMatchObject({ code: 400, message, description });
		expect(calls.methods).toEqual(['get']);
	});

	test('of very many headings some are named', async () => {
		const long = 'long '.repeat(60);
		const many = Array.from({ length: 900 }, (_, at) => heading(`${at} ${long}`));
		const { description } = await catchFailure(change(calls.seed(...many), 'Plan'));
		expect(description).toMatch(
			/^Nothing was written\. Headings of the tab: '0 long .*, 880 more\.$/,
		);
		expect(description?.length).toBeLessThan(3500);
	});

	test('a title counts as a heading, as it does in Markdown', async () => {
		const id = calls.seed(title('My\u00a0report'), paragraph('intro'), heading('One'));
		await change(id, 'My report');
		expect((await calls.blocks(id)).at(-1)).toBe('# One');
	});

	test('is found to be done if the answer was lost, and happens once', async () => {
		const id = report();
		calls.failChange({ connection: 'resetAfter' });
		const written = await change(id, 'Plan');
		const revisionId = calls.google.docs.revisionOf(id);
		expect(written).toMatchObject({ characterCount: 1, revisionId });
		expect(calls.changes(id)).toBe(1);
	});

	test('is planned again if somebody else changed another part', async () => {
		const id = report();
		calls.refuseAsOutdated();
		await change(id, 'Plan');
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'get', 'batchUpdate']);
		expect(calls.changes(id)).toBe(1);
	});
});

/** An element, and its text as stored. */
const anyElement = fc.constantFrom<[Element, string]>(
	[paragraph('words'), 'words\n'],
	[paragraph(), '\n'],
	[bullet('item'), 'item\n'],
	[cell('cell'), 'cell\n'],
	[picture, '\ue907\n'],
	[heading('Low', 5), 'Low\n'],
);
const anySection = fc.record({
	level: fc.integer({ min: 1, max: 3 }),
	inside: fc.array(anyElement, { maxLength: 3 }),
});
const anyChange = fc.record({
	sections: fc.array(anySection, { minLength: 1, maxLength: 4 }),
	place: fc.nat(3),
	content: fc.constantFrom(
		'one',
		'one\ntwo',
		'- one\n- two',
		'one\n\n| a |\n| - |\n| b |\n\ntwo',
	),
	contentFormat: fc.constantFrom('text' as const, 'markdown' as const),
});

test('whatever stands in a section and around it, nothing else of the document changes', async () => {
	await fc.assert(
		fc.asyncProperty(anyChange, async ({ sections, place, content, contentFormat }) => {
			const own = place % sections.length;
			const depth = sections[own]?.level ?? 1;
			const after = sections.findIndex(({ level }, at) => at > own && level <= depth);
			const end = after < 0 ? sections.length : after;
			const parts = sections.map(({ level, inside }, at) => ({
				body: [heading(`H${at}`, level), ...inside.map(([element]) => element)],
				text: [`H${at}\n`, ...inside.map(([, stored]) => stored)].join(''),
			}));
			const stored = (from: number, to: number) =>
				parts
					.slice(from, to)
					.map((part) => part.text)
					.join('');
			const params = { content, contentFormat };
			const plain = calls.seed(paragraph());
			await calls.write(plain, params);
			const added = calls.text(plain);
			// Docs puts an empty paragraph behind a table at the end.
			const ends = parts.at(-1)?.body.at(-1)?.table ? '\n' : '';
			const rest = stored(end, parts.length);
			const following = rest && rest + ends;

			const body = parts.flatMap((part) => part.body);
			const written = calls.seed(...body);
			await calls.write(written, { ...params, section: `H${own}` });
			expect(calls.text(written)).toBe(`${stored(0, own)}H${own}\n${added}${following}`);

			const appended = calls.seed(...body);
			await calls.append(appended, {
				...params,
				underHeading: `H${own}`,
				newParagraph: true,
			});
			const kept = stored(0, end) + (rest ? '' : ends);
			const isFilled = kept.endsWith('\n\n') && parts[end - 1]?.body.at(-1)?.paragraph;
			const left = isFilled || (!rest && ends) ? kept.slice(0, -1) : kept;
			expect(calls.text(appended)).toBe(left + added + following);
		}),
		{ numRuns: roundsOf(120) },
	);
});

test.each(['Last', ''])(
	'what somebody else changed meanwhile is not overwritten: %j',
	async (section) => {
		const old = paragraph('old');
		const id = calls.seed(heading('One'), old, heading('Last'), old);
		calls.refuseAsOutdated();
		const failing = catchFailure(calls.write(id, { section, content: 'mine' }));
		while (!calls.methods.includes('batchUpdate')) await setImmediate();
		calls.google.docs.type(id, ' theirs');
		const told = 'Someone else changed the content while it was being replaced';
		expect(await failing).toMatchObject({ code: 400, message: told });
		expect(calls.text(id)).toBe('One\nold\nLast\nold theirs\n');
	},
);
