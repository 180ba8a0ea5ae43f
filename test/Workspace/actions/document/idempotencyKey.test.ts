import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

const documents = () =>
	calls.google.files
		.listAll()
		.filter(({ mimeType, trashed }) => mimeType.endsWith('.document') && !trashed);

describe('create', () => {
	const keyed = { idempotencyKey: 'minutes 2026-11', content: 'Hello' };

	test('the same key gives the first document again and writes nothing', async () => {
		const first = await calls.create(keyed);
		const batches = calls.google.docs.batchesOf(first.documentId);
		expect(await calls.create(keyed)).toEqual({ ...first, repeated: true });
		expect(calls.google.docs.batchesOf(first.documentId)).toBe(batches);
		expect(documents()).toHaveLength(1);
	});

	test('nothing is created if Google did not search all drives for the key', async () => {
		const rewrite = () => ({ files: [], incompleteSearch: true });
		calls.google.fault({ match: 'drive.files.list', rewrite });
		expect(await catchFailure(calls.create(keyed))).toMatchObject({ code: 503 });
		expect(documents()).toEqual([]);
	});

	test('what was changed in the document since is left alone', async () => {
		const { documentId } = await calls.create(keyed);
		await calls.write(documentId, { content: 'changed' });
		await calls.create(keyed);
		expect(calls.google.docs.text(documentId)).toBe('changed\n');
	});

	test('what somebody wrote into it before its content came stays, and the content follows', async () => {
		calls.google.fault({
			match: 'docs.documents.batchUpdate',
			times: 99,
			connection: 'resetBefore',
		});
		await catchFailure(calls.create(keyed));
		calls.google.heal();
		const [{ id } = { id: '' }] = documents();
		calls.google.docs.type(id, 'x');
		await calls.create(keyed);
		expect(calls.google.docs.text(id)).toBe('x\nHello\n');
	});

	test.each([{ content: 'other' }, { title: 'Other' }, { contentFormat: 'markdown' }] as const)(
		'a key that was used for other content is refused: %j',
		async (other) => {
			await calls.create(keyed);
			expect(await catchFailure(calls.create({ ...keyed, ...other }))).toMatchObject({
				code: 409,
			});
			expect(documents()).toHaveLength(1);
		},
	);

	test.each([
		{ match: 'drive.files.create', connection: 'resetAfter' },
		{ match: 'docs.documents.batchUpdate', times: 9, connection: 'resetBefore' },
		{ match: 'docs.documents.batchUpdate', times: 9, connection: 'resetAfter' },
		{ match: 'docs.documents.get', times: 9, status: 503 },
		{ match: 'drive.files.update', times: 9, status: 503 },
	] as const)('an execution that was cut is completed by the next: %j', async (fault) => {
		calls.google.fault(fault);
		await calls.create(keyed).catch(() => undefined);
		calls.google.heal();
		const { documentId } = await calls.create(keyed, testItem());
		expect(calls.google.docs.text(documentId)).toBe('Hello\n');
		expect(documents()).toHaveLength(1);
	});

	test('an execution whose document another one has put away already keeps that of the other', async () => {
		calls.google.fault({ match: 'drive.files.create', nth: 1, delayMilliseconds: 100 });
		calls.google.fault({ match: 'drive.files.create', nth: 2, delayMilliseconds: 800 });
		const [one, other] = await Promise.all([
			calls.create(keyed, testItem()),
			calls.create(keyed, testItem()),
		]);
		expect(one.documentId).toBe(other.documentId);
		expect(documents().map(({ id }) => id)).toEqual([one.documentId]);
	});

	test('two executions at once leave one document, filled once', async () => {
		for (let round = 0; round < 10; round++) {
			const params = { ...keyed, idempotencyKey: `race ${round}` };
			const both = await Promise.all([
				calls.create(params, testItem()),
				calls.create(params, testItem()),
			]);
			expect(both[0].documentId).toBe(both[1].documentId);
			expect(calls.google.docs.text(both[0].documentId)).toBe('Hello\n');
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
		expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
	});

	test('its mark is a named range over the appended text; those of others mean nothing', async () => {
		const id = calls.document('one');
		const range = { startIndex: 1, endIndex: 2, tabId: 't.0' };
		const requests = [{ createNamedRange: { name: 'mine', range } }];
		await calls.clients?.docs.documents.batchUpdate({
			documentId: id,
			requestBody: { requests },
		});
		await calls.append(id, keyed);
		expect(calls.sent.at(-1)?.body).toMatchObject({
			requests: [
				{},
				{ createNamedRange: { range: { startIndex: 4, endIndex: 8, tabId: 't.0' } } },
			],
		});
	});

	test('also after others have written before and behind it, and in Markdown', async () => {
		const id = calls.document('one');
		const markdown = {
			...keyed,
			content: '# two\n\n- a\n- b',
			contentFormat: 'markdown',
		} as const;
		await calls.append(id, markdown);
		await calls.append(id, { content: 'three', newParagraph: true });
		const text = calls.google.docs.text(id);
		expect(await calls.append(id, markdown)).toMatchObject({ repeated: true });
		expect(calls.google.docs.text(id)).toBe(text);
	});

	test.each(['', 'x'])('so is a rule, which has no text, below %j', async (text) => {
		const id = calls.document(text);
		const rule = {
			content: '---',
			contentFormat: 'markdown',
			idempotencyKey: 'k',
			newParagraph: true,
		} as const;
		await calls.append(id, rule);
		expect(await calls.append(id, rule)).toMatchObject({ repeated: true });
		expect(calls.google.docs.text(id)).toBe(text === '' ? '\n' : 'x\n\n');
	});

	test('other content is refused; another key and another document are their own', async () => {
		const id = calls.document('one');
		await calls.append(id, keyed);
		expect(await catchFailure(calls.append(id, { ...keyed, content: 'other' }))).toMatchObject({
			code: 409,
		});
		expect(await calls.append(id, { ...keyed, idempotencyKey: 'b' })).not.toHaveProperty(
			'repeated',
		);
		expect(await calls.append(calls.document('x'), keyed)).not.toHaveProperty('repeated');
	});

	test('another tab is the same document', async () => {
		const id = calls.document('one', [{ title: 'Notes', tabId: 't.n' }]);
		const first = await calls.append(id, { ...keyed, tab: 'Notes' });
		expect(await calls.append(id, keyed)).toEqual({ ...first, repeated: true });
		const other = await catchFailure(calls.append(id, { ...keyed, content: 'other' }));
		expect(other).toMatchObject({ code: 409 });
		expect(calls.google.docs.text(id)).toBe('one\n');
	});

	test('two executions at once append once', async () => {
		const id = calls.document('one');
		const results = await Promise.all(Array.from({ length: 4 }, () => calls.append(id, keyed)));
		expect(results.filter((result) => 'repeated' in result)).toHaveLength(3);
		expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
	});

	test.each([{ connection: 'resetAfter' }, { status: 503, carriedOut: true }] as const)(
		'once, when the answer is lost: %j',
		async (fault) => {
			const id = calls.document('one');
			calls.google.fault({ match: 'docs.documents.batchUpdate', times: 9, ...fault });
			await calls.append(id, keyed).catch(() => undefined);
			calls.google.heal();
			await calls.append(id, keyed);
			expect(calls.google.docs.text(id)).toBe('one\ntwo\n');
		},
	);
});

describe('a document that others are editing', () => {
	/** Somebody types between each look and the change after it. */
	const typeBetween = (id: string, times: number) => {
		let typed = 0;
		const match = ({ method }: { method?: string }) => {
			if (method !== 'docs.documents.batchUpdate' || typed === times) return false;
			typed++;
			calls.google.docs.type(id, `${typed}`);
			return false;
		};
		calls.google.fault({ match });
	};

	test('an append is planned anew on what is there', async () => {
		const id = calls.document('one');
		typeBetween(id, 3);
		await calls.append(id, {
			content: '**two**',
			contentFormat: 'markdown',
			newParagraph: true,
		});
		expect(calls.google.docs.text(id)).toBe('one123\ntwo\n');
		expect(calls.methods.filter((method) => method === 'get')).toHaveLength(4);
	});

	test.each([
		[5, { status: 'fulfilled' }],
		[6, { reason: { code: 400 } }],
	])('an append that others come before %d times is %j', async (times, expected) => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const id = calls.document('one');
		typeBetween(id, times);
		const [outcome] = await Promise.allSettled([
			calls.append(id, { content: 'two', newParagraph: true }),
		]);
		expect(outcome).toMatchObject(expected);
		jest.restoreAllMocks();
	});

	test('what executions append at once is there, once', async () => {
		const id = calls.document('one');
		const lines = Array.from({ length: 8 }, (_, index) => `line ${index}`);
		const results = await Promise.allSettled(
			lines.map((content) => calls.append(id, { content, newParagraph: true })),
		);
		const done = results.filter(({ status }) => status === 'fulfilled').length;
		const text = calls.google.docs.text(id);
		expect(text.split('\n').filter((line) => lines.includes(line))).toHaveLength(done);
	});

	test('an empty last paragraph is the new one', async () => {
		const id = calls.document('');
		await calls.append(id, { content: 'one', newParagraph: true });
		expect(calls.google.docs.text(id)).toBe('one\n');
	});
});
