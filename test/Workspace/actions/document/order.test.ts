// In which order documents are changed when there are several items.
import type { IDataObject } from 'n8n-workflow';

import { runNode, token } from '../../runNode';
import { Calls } from './calls';

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

const writing = (documentId: string, content: string) => ({ operation: 'write', documentId, content });

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
	await run(appending(one, 'a'), appending(other, 'x'), appending(one, 'b'), appending(one, 'c'));
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
	expect(output.map(({ content }) => content)).toEqual(['old', undefined, undefined, 'new', undefined]);
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
	const items = [writing(missing, 'x'), writing(one, 'new')].map((input) => ({ json: { input } }));
	const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
	const node = { retryOnFail: true, maxTries: 2 };
	const tried = () => runNode({ url: calls.google.url, parameters, items, node, executionId: 'order-1' });
	await expect(tried()).rejects.toThrow();
	expect(calls.google.docs.text(one)).toBe('new\n');
	await expect(tried()).rejects.toThrow();
	expect(came().filter((request) => request.endsWith(one))).toEqual([`read ${one}`, `change ${one}`]);
	expect(came().filter((request) => request === `read ${missing}`)).toHaveLength(2);
});

const twice = { replacements: [{ find: 'a', replace: 'aa' }] };

test.each([
	['Retry On Fail makes no replacements again that may have been made', twice, 'failed', 'aa\n'],
	['Retry On Fail writes a content again, which leaves the same', { content: 'new' }, 'done', 'new\n'],
])('%s', async (_what, change, second, text) => {
	const id = calls.document('a');
	calls.google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
	// Nor can it be found out whether it was made.
	calls.google.fault({ match: 'docs.documents.get', nth: 2, status: 403 });
	const items = [{ json: { input: { operation: 'write', documentId: id, ...change } } }];
	const parameters = { inputMode: 'json', inputObject: '={{ $json.input }}' };
	const node = { retryOnFail: true, maxTries: 2 };
	const tried = () => runNode({ url: calls.google.url, parameters, items, node, executionId: 'order-2' });
	await expect(tried()).rejects.toThrow(/may have been/);
	const ended = await tried().then(
		() => 'done',
		() => 'failed',
	);
	expect([ended, calls.google.docs.text(id)]).toEqual([second, text]);
});
