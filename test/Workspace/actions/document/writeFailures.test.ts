import type { IDataObject } from 'n8n-workflow';

import { catchFailure } from '../../catchFailure';
import { runNode, token } from '../../runNode';
import { Calls } from './calls';

const calls = new Calls();
const batchUpdate = 'docs.documents.batchUpdate';

describe.each(['text', 'markdown'] as const)('%s', (contentFormat) => {
	const content = '# One\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n1. x\n2. y';

	test('a write whose answer was lost is found to be done, and happens once', async () => {
		const id = calls.document('old');
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const written = await calls.write(id, { content, contentFormat });
		expect(written.revisionId).toBe(calls.google.docs.revisionOf(id));
		expect(written.characterCount).toBeGreaterThan(0);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get']);
		expect(calls.google.docs.batchesOf(id)).toBe(1);
	});

	test('an append that was read first, too', async () => {
		const id = calls.document('old', [{ title: 'Notes', tabId: 't.n' }]);
		calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
		await calls.append(id, { content, contentFormat, tab: 'Notes', newParagraph: true });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get']);
	});
});

describe('a revision that Google does not name is empty in the result', () => {
	const nothing = { match: batchUpdate, status: 200, body: {} };

	test('after a write or an append', async () => {
		const id = calls.document('old');
		calls.google.fault({ ...nothing, times: 2 });
		expect(await calls.write(id, { content: 'new' })).toHaveProperty('revisionId', '');
		expect(await calls.append(id, { content: 'new' })).toHaveProperty('revisionId', '');
	});

	test('after a write whose answer was lost', async () => {
		const id = calls.document();
		calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
		const paragraph = { elements: [{ textRun: { content: 'new\n' } }] };
		const content = [{ endIndex: 1 }, { startIndex: 1, endIndex: 5, paragraph }];
		const tabs = [{ tabProperties: { tabId: 't.0' }, documentTab: { body: { content } } }];
		calls.google.fault({
			match: 'docs.documents.get',
			nth: 2,
			status: 200,
			body: { tabs },
		});
		expect(await calls.write(id, { content: 'new' })).toHaveProperty('revisionId', '');
	});
});

test('a write that did not happen at first is repeated', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, retryAfter: 0, times: 2 });
	await calls.write(id, { content: 'new' });
	expect(calls.google.docs.text(id)).toBe('new\n');
	expect(calls.google.docs.batchesOf(id)).toBe(1);
});

test('a write that never happened is told as such where only the look would have changed', async () => {
	const id = calls.document('same');
	calls.google.fault({ match: batchUpdate, status: 503, retryAfter: 0, times: 99 });
	const failure = await catchFailure(
		calls.write(id, { content: '**same**', contentFormat: 'markdown' }),
	);
	expect(failure.message).toMatch(/^The document was not changed/);
	expect(failure.outcome).toBe('notDone');
	expect(calls.google.docs.batchesOf(id)).toBe(0);
});

test.each([
	['longer', ' theirs'],
	['as long as ours', '!'],
	['with the same end', ' ours'],
])(
	'somebody else was faster, and their text is %s: a clear error, and it stays',
	async (_what, theirs) => {
		const id = calls.document('old');
		calls.google.fault({
			match: (request) => {
				if (request.method !== batchUpdate) return false;
				if (calls.google.docs.text(id) === 'old\n') calls.google.docs.type(id, theirs);
				return true;
			},
			status: 503,
		});
		const failure = await catchFailure(calls.write(id, { content: 'ours' }));
		expect(failure.message).toMatch(/^The content may have been written: /);
		expect(failure.description).toContain(
			`https://docs.google.com/document/d/${id}/edit?tab=t.0`,
		);
		expect(calls.google.docs.text(id)).toBe(`old${theirs}\n`);
	},
);

test('so is a document that Google gives back without a body', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
	calls.google.fault({
		match: 'docs.documents.get',
		nth: 2,
		status: 200,
		body: { tabs: [{ tabProperties: { tabId: 't.0' } }] },
	});
	const failure = await catchFailure(calls.write(id, { content: 'ours' }));
	expect(failure.message).toMatch(/^The content may have been written: /);
});

test.each([
	{ status: 400, message: 'No.' },
	{ status: 409, message: 'The required revision ID does not match.' },
])('only a change to an older revision is planned again, not after %j', async (fault) => {
	calls.google.fault({ match: batchUpdate, ...fault });
	expect(
		await catchFailure(calls.append(calls.document('x'), { content: 'y', newParagraph: true })),
	).toMatchObject({ code: fault.status });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
});

test('a write that never happened says so', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, times: 5 });
	const failure = await catchFailure(calls.write(id, { content: 'ours' }));
	expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
	expect(failure.message).toMatch(/^The document was not changed: /);
	expect(failure.description).toMatch(/safely run this again/);
});

test.each([
	['cannot be read', { match: 'docs.documents.get', nth: 2, status: 403 }],
	['are refused', { match: batchUpdate, nth: 2, status: 400 }],
	['never happened', { match: batchUpdate, nth: 2, status: 503, times: 5 }],
])('replacements that %s: the failure says that the content was replaced', async (_how, fault) => {
	const id = calls.document('old');
	calls.google.fault(fault);
	const replacements = [{ find: 'a', replace: 'b', format: 'text' as const }];
	const failure = await catchFailure(calls.write(id, { content: 'a', replacements }));
	expect(calls.google.docs.text(id)).toBe('a\n');
	expect(failure).toMatchObject({ code: fault.status, outcome: 'notDone' });
	expect(failure.message).toMatch(/^The content was replaced, but no texts in it: /);
	expect(failure.description).toContain("To replace only the texts, leave 'content' empty.");
});

test.each(['', 't.n'])(
	'an append of plain text to the tab %j is found to be done if the answer was lost, and happens once',
	async (tab) => {
		const id = calls.document('old', [{ title: 'Notes', tabId: 't.n' }]);
		calls.google.fault({ match: batchUpdate, connection: 'resetAfter' });
		const appended = await calls.append(id, { content: '!', tab });
		expect(appended).toMatchObject({ characterCount: 1 });
		expect(calls.google.docs.batchesOf(id)).toBe(1);
		expect(calls.google.docs.text(id, tab || undefined)).toBe(tab ? '!\n' : 'old!\n');
	},
);

test('who may only read is told so', async () => {
	const id = calls.document('old');
	calls.google.fault({
		match: 'docs.documents.get',
		body: {
			tabs: [
				{
					tabProperties: { tabId: 't.0' },
					documentTab: { body: { content: [{ endIndex: 2 }] } },
				},
			],
		},
	});
	expect(await catchFailure(calls.write(id, { content: 'x' }))).toMatchObject({
		code: 403,
		message: 'This account can read the document but not edit it',
	});
});

test('where the document cannot be read afterwards, the outcome is unknown', async () => {
	const id = calls.document('old');
	calls.google.fault({ match: batchUpdate, status: 503, carriedOut: true });
	calls.google.fault({ match: 'docs.documents.get', nth: 2, status: 500, times: 9 });
	const failure = await catchFailure(calls.write(id, { content: 'ours' }));
	expect(failure.message).toMatch(/^The content may have been written: /);
	expect(failure.description).toContain(`https://docs.google.com/document/d/${id}/edit?tab=t.0`);
	expect(failure.outcome).toBe('unknown');
});

// In which order documents are changed when there are several items.
describe('order of requests', () => {
	const calls = new Calls();

	beforeEach(() => {
		calls.google.tokens.issue({ token });
	});

	async function run(...inputs: IDataObject[]): Promise<IDataObject[]> {
		const items = inputs.map((input) => ({ json: { input } }));
		const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
		const output = await runNode({ url: calls.google.url, parameters, items });
		return output.map(({ json }) => json);
	}

	/** What came in: `read` or `change`, and of which document. */
	const came = () =>
		calls.google.requests.map(({ method, path }) => {
			const id = /documents\/([^/:?]+)/.exec(path)?.[1] ?? '';
			return `${method === 'docs.documents.get' ? 'read' : 'change'} ${id}`;
		});

	const writing = (documentId: string, content: string) => ({
		operation: 'write',
		documentId,
		content,
	});

	test('different documents are changed side by side, and the output keeps the order of the items', async () => {
		const ids = ['1', '2', '3'].map((text) => calls.document(text));
		const output = await run(...ids.map((id) => writing(id, `new ${id}`)));
		expect(output.map(({ documentId }) => documentId)).toEqual(ids);
		expect(ids.map((id) => calls.google.docs.text(id))).toEqual(ids.map((id) => `new ${id}\n`));
		// The second is read before the first is changed.
		expect(came().slice(0, 3).sort()).toEqual(ids.map((id) => `read ${id}`).sort());
	});

	test('one document is changed in the order of the items', async () => {
		const [one, other] = [calls.document(''), calls.document('')];
		const appending = (documentId: string, content: string) => ({
			operation: 'append',
			resource: 'document',
			documentId,
			content,
			newParagraph: true,
		});
		await run(
			appending(one, 'a'),
			appending(other, 'x'),
			appending(one, 'b'),
			appending(one, 'c'),
		);
		expect([one, other].map((id) => calls.google.docs.text(id))).toEqual(['a\nb\nc\n', 'x\n']);
		expect(came().filter((request) => request.endsWith(one))).toEqual(
			Array.from({ length: 3 }, () => [`read ${one}`, `change ${one}`]).flat(),
		);
	});

	test('a document is read only after the changes before it, and changed only after the reads before it', async () => {
		const [one, other] = [calls.document('old'), calls.document('old')];
		const reading = { operation: 'read', documentId: one };
		const output = await run(
			reading,
			writing(one, 'new'),
			writing(other, 'new'),
			reading,
			writing(one, 'newer'),
		);
		expect(output.map(({ content }) => content)).toEqual([
			'old',
			undefined,
			undefined,
			'new',
			undefined,
		]);
		expect(calls.google.docs.text(one)).toBe('newer\n');
	});

	test('reads that follow one another run side by side: none waits for another one to be repeated', async () => {
		const ids = [calls.document('1'), calls.document('2')];
		calls.google.fault({ match: 'docs.documents.get', nth: 1, status: 503 });
		const output = await run(...ids.map((documentId) => ({ operation: 'read', documentId })));
		expect(output.map(({ content }) => content)).toEqual(['1', '2']);
		expect(came()).toEqual([0, 1, 0].map((at) => `read ${ids[at] ?? ''}`));
	});

	test('changes by different operations keep the order of the items', async () => {
		const [one, other] = [calls.document('old'), calls.document('old')];
		const created = { operation: 'create', resource: 'document', title: 'T', content: 'x' };
		await run(created, writing(one, 'new'), {
			operation: 'append',
			resource: 'document',
			documentId: other,
			content: 'new',
			newParagraph: true,
		});
		expect(calls.methods).toEqual([
			'create',
			'batchUpdate',
			'get',
			...['get', 'batchUpdate'],
			...['get', 'batchUpdate'],
		]);
	});

	test('after a failure nothing more is changed in that document', async () => {
		const [one, missing] = [calls.document('old'), 'missing-document-0000000000000'];
		const failing = run(writing(missing, 'x'), writing(missing, 'y'), writing(one, 'new'));
		await expect(failing).rejects.toThrow();
		expect(came().filter((request) => request === `read ${missing}`)).toHaveLength(1);
	});

	test('Retry On Fail does not change what was changed beside the item that failed', async () => {
		const [one, missing] = [calls.document('old'), 'missing-document-0000000000000'];
		const items = [writing(missing, 'x'), writing(one, 'new')].map((input) => ({
			json: { input },
		}));
		const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
		const node = { retryOnFail: true, maxTries: 2 };
		const tried = () =>
			runNode({ url: calls.google.url, parameters, items, node, executionId: 'order-1' });
		await expect(tried()).rejects.toThrow();
		expect(calls.google.docs.text(one)).toBe('new\n');
		await expect(tried()).rejects.toThrow();
		expect(came().filter((request) => request.endsWith(one))).toEqual([
			`read ${one}`,
			`change ${one}`,
		]);
		expect(came().filter((request) => request === `read ${missing}`)).toHaveLength(2);
	});

	const twice = { replacements: [{ find: 'a', replace: 'aa' }] };

	test.each([
		[
			'Retry On Fail makes no replacements again that may have been made',
			twice,
			'failed',
			'aa\n',
		],
		[
			'Retry On Fail writes a content again, which leaves the same',
			{ content: 'new' },
			'done',
			'new\n',
		],
	])('%s', async (_what, change, second, text) => {
		const id = calls.document('a');
		calls.google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
		// Nor can it be found out whether it was made.
		calls.google.fault({ match: 'docs.documents.get', nth: 2, status: 403 });
		const items = [{ json: { input: { operation: 'write', documentId: id, ...change } } }];
		const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
		const node = { retryOnFail: true, maxTries: 2 };
		const tried = () =>
			runNode({ url: calls.google.url, parameters, items, node, executionId: 'order-2' });
		await expect(tried()).rejects.toThrow(/may have been/);
		const ended = await tried().then(
			() => 'done',
			() => 'failed',
		);
		expect([ended, calls.google.docs.text(id)]).toEqual([second, text]);
	});
});
