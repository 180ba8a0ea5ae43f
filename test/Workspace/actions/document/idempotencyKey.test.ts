import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

describe('create', () => {
	const keyed = { idempotencyKey: 'minutes 2026-11', content: 'Hello' };
	const create = () => calls.create(keyed, testItem());
	const documents = () =>
		calls.google.files
			.listAll()
			.filter(({ mimeType, trashed }) => mimeType.endsWith('.document') && !trashed);

	test('the same key gives the first document again and writes nothing', async () => {
		const first = await create();
		const changes = calls.changes(first.documentId);
		expect(await create()).toEqual({ ...first, repeated: true });
		expect(calls.changes(first.documentId)).toBe(changes);
		expect(documents()).toHaveLength(1);
	});

	test('nothing is created if Google did not search all drives for the key', async () => {
		const rewrite = () => ({ files: [], incompleteSearch: true });
		calls.google.fault({ match: 'drive.files.list', rewrite });
		expect(await catchFailure(create())).toMatchObject({ code: 503 });
		expect(documents()).toEqual([]);
	});

	test('a document that Google does not list yet is its own', async () => {
		calls.google.fault({ match: 'drive.files.list', nth: 2, rewrite: () => ({ files: [] }) });
		expect(await create()).not.toHaveProperty('repeated');
		expect(documents()).toHaveLength(1);
	});

	test('what somebody wrote into it before its content came stays, and the content follows', async () => {
		calls.failChange({ times: 99, connection: 'resetBefore' });
		await catchFailure(create());
		calls.google.heal();
		const [{ id } = { id: '' }] = documents();
		calls.google.docs.type(id, 'x');
		await create();
		expect(calls.text(id)).toBe('x\nHello\n');
	});

	test.each([{ content: 'other' }, { title: 'Other' }, { contentFormat: 'markdown' }] as const)(
		'a key that was used for other content is refused: %j',
		async (other) => {
			await create();
			const failure = await catchFailure(calls.create({ ...keyed, ...other }));
			expect(failure).toMatchObject({ code: 409 });
			expect(documents()).toHaveLength(1);
		},
	);

	test.each([
		{ match: 'drive.files.create', connection: 'resetAfter' },
		{ match: 'docs.documents.batchUpdate', times: 99, connection: 'resetBefore' },
		{ match: 'docs.documents.batchUpdate', times: 99, connection: 'resetAfter' },
		{ match: 'docs.documents.get', times: 99, status: 503 },
		{ match: 'drive.files.update', times: 99, status: 503 },
	] as const)('an execution that was cut is completed by the next: %j', async (fault) => {
		calls.google.fault(fault);
		await create().catch(() => undefined);
		calls.google.heal();
		expect(calls.text((await create()).documentId)).toBe('Hello\n');
		expect(documents()).toHaveLength(1);
	});

	test('two executions at once leave one document, filled once', async () => {
		for (let round = 0; round < 10; round++) {
			const params = { ...keyed, idempotencyKey: `race ${round}` };
			const run = () => calls.create(params, testItem());
			const [one, other] = await Promise.all([run(), run()]);
			expect(one.documentId).toBe(other.documentId);
			expect(calls.text(one.documentId)).toBe('Hello\n');
		}
		expect(documents()).toHaveLength(10);
	});
});

describe('append', () => {
	const keyed = { idempotencyKey: 'entry 7', content: 'two', newParagraph: true };

	test('the same key appends once and gives the first count again', async () => {
		const id = calls.document('one');
		const first = await calls.append(id, keyed);
		expect(first).toMatchObject({ characterCount: 4 });
		expect(await calls.append(id, keyed)).toEqual({ ...first, repeated: true });
		expect(calls.text(id)).toBe('one\ntwo\n');
	});

	test('its mark is a named range over the appended text; those of others mean nothing', async () => {
		const documentId = calls.document('one');
		const range = { startIndex: 1, endIndex: 2, tabId: 't.0' };
		const requests = [{ createNamedRange: { name: 'mine', range } }];
		await calls.clients?.docs.documents.batchUpdate({ documentId, requestBody: { requests } });
		await calls.append(documentId, keyed);
		const marked = { startIndex: 4, endIndex: 8, tabId: 't.0' };
		expect(calls.sent.at(-1)?.body).toMatchObject({
			requests: [{}, { createNamedRange: { range: marked } }],
		});
	});

	test('also after others have written before and behind it, and in Markdown', async () => {
		const id = calls.document('one');
		const content = '# two\n\n- a\n- b';
		const markdown = { ...keyed, content, contentFormat: 'markdown' } as const;
		await calls.append(id, markdown);
		await calls.append(id, { content: 'three', newParagraph: true });
		const text = calls.text(id);
		expect(await calls.append(id, markdown)).toMatchObject({ repeated: true });
		expect(calls.text(id)).toBe(text);
	});

	test.each([
		['', '\n'],
		['x', 'x\n\n'],
	])('so is a rule, which has no text, below %j', async (before, text) => {
		const id = calls.document(before);
		const rule = { ...keyed, content: '---', contentFormat: 'markdown' } as const;
		await calls.append(id, rule);
		expect(await calls.append(id, rule)).toMatchObject({ repeated: true });
		expect(calls.text(id)).toBe(text);
	});

	test('another key is another append', async () => {
		const id = calls.document('one');
		await calls.append(id, keyed);
		const other = await calls.append(id, { ...keyed, idempotencyKey: 'b' });
		expect(other).not.toHaveProperty('repeated');
	});

	test('another tab is the same document, and other content is refused', async () => {
		const id = calls.withNotes('one');
		const first = await calls.append(id, { ...keyed, tab: 'Notes' });
		expect(await calls.append(id, keyed)).toEqual({ ...first, repeated: true });
		const other = await catchFailure(calls.append(id, { ...keyed, content: 'other' }));
		expect(other).toMatchObject({ code: 409 });
		expect(calls.text(id)).toBe('one\n');
	});
});

describe('a document that others are editing', () => {
	/** Appends while somebody types so many times between a look and the change after it. */
	const appendWhileTyping = async (times: number) => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const id = calls.document('one');
		let typed = 0;
		const match = ({ method }: { method?: string }) => {
			if (method === 'docs.documents.batchUpdate' && typed < times)
				calls.google.docs.type(id, `${++typed}`);
			return false;
		};
		calls.google.fault({ match });
		await calls.append(id, {
			content: '**two**',
			contentFormat: 'markdown',
			newParagraph: true,
		});
		return calls.text(id);
	};
	afterEach(() => {
		jest.restoreAllMocks();
	});

	test('an append is planned anew on what is there, up to six times', async () => {
		expect(await appendWhileTyping(5)).toBe('one12345\ntwo\n');
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(6);
	});

	test('an append that others come before six times fails', async () => {
		expect(await catchFailure(appendWhileTyping(6))).toMatchObject({ code: 400 });
	});
});
