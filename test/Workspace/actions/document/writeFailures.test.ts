import type { IDataObject } from 'n8n-workflow';

import { catchFailure } from '../../catchFailure';
import { runNode, token } from '../../runNode';
import { asText, Calls } from './calls';

const calls = new Calls();
const lost = { connection: 'resetAfter' } as const;
const doneIn503 = { status: 503, carriedOut: true };

describe.each([lost, doneIn503])('a change whose answer was lost by %j', (fault) => {
	const content = '# One\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n1. x\n2. y';

	test.each([
		['write', 'text', ''],
		['write', 'markdown', ''],
		['append', 'text', ''],
		['append', 'text', 'Notes'],
		['append', 'markdown', 'Notes'],
	] as const)('is found to be done, and happens once: %s %s, tab %j', async (...row) => {
		const [operation, contentFormat, tab] = row;
		const id = calls.withNotes('old');
		calls.failChange(fault);
		const done = await calls[operation](id, { content, contentFormat, tab });
		expect(done.revisionId).toBe(calls.google.docs.revisionOf(id));
		expect(done.characterCount).toBeGreaterThan(0);
		expect(calls.methods).toEqual(['get', 'batchUpdate', 'batchUpdate', 'get']);
		expect(calls.changes(id)).toBe(1);
	});
});

describe('a revision that Google does not name is empty in the result', () => {
	test.each(['write', 'append'] as const)('after %s', async (operation) => {
		calls.failChange({ status: 200, body: {} });
		const done = await calls[operation](calls.document('old'), { content: 'new' });
		expect(done).toHaveProperty('revisionId', '');
	});

	test('after a write whose answer was lost', async () => {
		calls.failChange(doneIn503);
		const paragraph = { elements: [{ textRun: { content: 'new\n' } }] };
		const content = [{ endIndex: 1 }, { startIndex: 1, endIndex: 5, paragraph }];
		const tabs = [{ tabProperties: { tabId: 't.0' }, documentTab: { body: { content } } }];
		calls.failRead({ nth: 2, status: 200, body: { tabs } });
		const written = await calls.write(calls.document(), { content: 'new' });
		expect(written).toHaveProperty('revisionId', '');
	});
});

test.each([
	['', 'ours', 'text'],
	[', where only the look would have changed', '**old**', 'markdown'],
] as const)('a write that never happened says so%s', async (_where, content, contentFormat) => {
	const id = calls.document('old');
	calls.failChange({ status: 503, retryAfter: 0, times: 99 });
	const failure = await catchFailure(calls.write(id, { content, contentFormat }));
	expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
	expect(failure.message).toMatch(/^The document was not changed: /);
	expect(failure.description).toMatch(/safely run this again/);
	expect(calls.changes(id)).toBe(0);
});

describe('a write of which nobody can tell whether it happened says so', () => {
	async function expectUnknown(id: string) {
		const failure = await catchFailure(calls.write(id, { content: 'ours' }));
		expect(failure.message).toMatch(/^The content may have been written: /);
		const url = `https://docs.google.com/document/d/${id}/edit?tab=t.0`;
		expect(failure.description).toContain(url);
		expect(failure.outcome).toBe('unknown');
	}

	test.each([
		['longer', ' theirs'],
		['as long as ours', '!'],
		['with the same end', ' ours'],
	])('where somebody else wrote a text %s, which stays', async (_what, theirs) => {
		const id = calls.document('old');
		const match = ({ method }: { method?: string }) => {
			if (method !== 'docs.documents.batchUpdate') return false;
			if (calls.text(id) === 'old\n') calls.google.docs.type(id, theirs);
			return true;
		};
		calls.google.fault({ match, status: 503 });
		await expectUnknown(id);
		expect(calls.text(id)).toBe(`old${theirs}\n`);
	});

	test.each([
		['cannot be read afterwards', { status: 500, times: 99 }],
		['has no body', { status: 200, body: { tabs: [{ tabProperties: { tabId: 't.0' } }] } }],
	])('where the document %s', async (_what, fault) => {
		calls.failChange(doneIn503);
		calls.failRead({ nth: 2, ...fault });
		await expectUnknown(calls.document('old'));
	});
});

test.each([
	{ status: 400, message: 'No.' },
	{ status: 409, message: 'The required revision ID does not match.' },
])('only a change to an older revision is planned again, not after %j', async (fault) => {
	calls.failChange(fault);
	const appending = calls.append(calls.document('x'), { content: 'y' });
	expect(await catchFailure(appending)).toMatchObject({ code: fault.status });
	expect(calls.methods).toEqual(['get', 'batchUpdate']);
});

test.each([
	['cannot be read', { match: 'docs.documents.get', nth: 2, status: 403 }],
	['are refused', { match: 'docs.documents.batchUpdate', nth: 2, status: 400 }],
	[
		'never happened',
		{ match: 'docs.documents.batchUpdate', nth: 2, status: 503, times: Infinity },
	],
])('replacements that %s: the failure says that the content was replaced', async (_how, fault) => {
	const id = calls.document('old');
	calls.google.fault(fault);
	const params = { content: 'a', replacements: [asText('a', 'b')] };
	const failure = await catchFailure(calls.write(id, params));
	expect(calls.text(id)).toBe('a\n');
	expect(failure).toMatchObject({ code: fault.status, outcome: 'notDone' });
	expect(failure.message).toMatch(/^The content was replaced, but no texts in it: /);
	expect(failure.description).toContain("To replace only the texts, leave 'content' empty.");
});

test('who may only read is told so', async () => {
	const documentTab = { body: { content: [{ endIndex: 2 }] } };
	calls.failRead({ body: { tabs: [{ tabProperties: { tabId: 't.0' }, documentTab }] } });
	const failure = await catchFailure(calls.write(calls.document('old'), { content: 'x' }));
	const message = 'This account can read the document but not edit it';
	expect(failure).toMatchObject({ code: 403, message });
});

// In which order documents are changed when there are several items.
describe('order of requests', () => {
	const missing = 'missing-document-0000000000000';

	beforeEach(() => {
		calls.google.tokens.issue({ token });
	});

	const run = async (inputs: IDataObject[], more: object = {}) => {
		const items = inputs.map((input) => ({ json: { input } }));
		const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
		const output = await runNode({ url: calls.google.url, parameters, items, ...more });
		return output.map(({ json }) => json);
	};

	/** A try of Retry On Fail, of the same execution. */
	const runTry = (inputs: IDataObject[], executionId: string) =>
		run(inputs, { node: { retryOnFail: true, maxTries: 2 }, executionId });

	/** What came in: `read` or `change`, and of which document. */
	const came = () =>
		calls.google.requests.map(({ method, path }) => {
			const id = /documents\/([^/:?]+)/.exec(path)?.[1] ?? '';
			return `${method === 'docs.documents.get' ? 'read' : 'change'} ${id}`;
		});
	const cameFor = (id: string) => came().filter((request) => request.endsWith(id));

	const reading = (documentId: string) => ({ operation: 'read', documentId });
	const writing = (documentId: string, content: string) => ({
		...{ operation: 'write', documentId, content },
	});
	const appending = (documentId: string, content: string) => ({
		...{ operation: 'append', resource: 'document', documentId, content, newParagraph: true },
	});

	test('different documents are changed side by side, and the output keeps the order of the items', async () => {
		const ids = ['1', '2', '3'].map((text) => calls.document(text));
		const output = await run(ids.map((id) => writing(id, `new ${id}`)));
		expect(output.map(({ documentId }) => documentId)).toEqual(ids);
		expect(ids.map((id) => calls.text(id))).toEqual(ids.map((id) => `new ${id}\n`));
		// The second is read before the first is changed.
		expect(came().slice(0, 3).sort()).toEqual(ids.map((id) => `read ${id}`).sort());
	});

	test('one document is changed in the order of the items', async () => {
		const [one, other] = [calls.document(), calls.document()];
		const lines = [appending(one, 'a'), appending(other, 'x')];
		await run([...lines, appending(one, 'b'), appending(one, 'c')]);
		expect([calls.text(one), calls.text(other)]).toEqual(['a\nb\nc\n', 'x\n']);
		const turn = [`read ${one}`, `change ${one}`];
		expect(cameFor(one)).toEqual([...turn, ...turn, ...turn]);
	});

	test('a document is read only after the changes before it, and changed only after the reads before it', async () => {
		const [one, other] = [calls.document('old'), calls.document('old')];
		const changes = [writing(one, 'new'), writing(other, 'new')];
		const inputs = [reading(one), ...changes, reading(one), writing(one, 'newer')];
		const output = await run(inputs);
		const contents = ['old', undefined, undefined, 'new', undefined];
		expect(output.map(({ content }) => content)).toEqual(contents);
		expect(calls.text(one)).toBe('newer\n');
	});

	test('changes by different operations keep the order of the items', async () => {
		const [one, other] = [calls.document('old'), calls.document('old')];
		const created = { operation: 'create', resource: 'document', title: 'T', content: 'x' };
		await run([created, writing(one, 'new'), appending(other, 'new')]);
		const turn = ['get', 'batchUpdate'];
		expect(calls.methods).toEqual(['create', ...turn, 'get', ...turn, ...turn]);
	});

	test('after a failure nothing more is changed in that document', async () => {
		const inputs = [writing(missing, 'x'), writing(missing, 'y')];
		await expect(run([...inputs, writing(calls.document(), 'new')])).rejects.toThrow();
		expect(cameFor(missing)).toEqual([`read ${missing}`]);
	});

	test('Retry On Fail does not change what was changed beside the item that failed', async () => {
		const one = calls.document('old');
		const inputs = [writing(missing, 'x'), writing(one, 'new')];
		await expect(runTry(inputs, 'order-1')).rejects.toThrow();
		expect(calls.text(one)).toBe('new\n');
		await expect(runTry(inputs, 'order-1')).rejects.toThrow();
		expect(cameFor(one)).toEqual([`read ${one}`, `change ${one}`]);
		expect(cameFor(missing)).toHaveLength(2);
	});

	const twice = { replacements: [{ find: 'a', replace: 'aa' }] };
	const content = { content: 'new' };

	test.each([
		['Retry On Fail makes no replacements again that may have been made', twice, false, 'aa\n'],
		['Retry On Fail writes a content again, which leaves the same', content, true, 'new\n'],
	])('%s', async (_what, change, isDone, text) => {
		const id = calls.document('a');
		calls.failChange(lost);
		// Nor can it be found out whether it was made.
		calls.failRead({ nth: 2, status: 403 });
		const inputs = [{ operation: 'write', documentId: id, ...change }];
		await expect(runTry(inputs, 'order-2')).rejects.toThrow(/may have been/);
		const [again] = await Promise.allSettled([runTry(inputs, 'order-2')]);
		expect([again.status === 'fulfilled', calls.text(id)]).toEqual([isDone, text]);
	});
});
