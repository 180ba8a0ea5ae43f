import { inspect } from 'node:util';
import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import {
	createErrorItem,
	ignoreNotFound,
	createNodeApiError,
	NodeError,
	createRefusal,
	getStatusName,
	toNodeError,
} from '../../nodes/core/errors';
import { storeBinary } from '../../nodes/core/binaryStorage';
import { Sanitizer } from '../../nodes/core/sanitizer';

const node: INode = {
	id: '1',
	name: 'Node',
	type: 't',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

test.each([
	[400, 'INVALID_ARGUMENT'],
	[401, 'UNAUTHENTICATED'],
	[299, 'UNKNOWN'],
	[300, 'FAILED_PRECONDITION'],
	[399, 'FAILED_PRECONDITION'],
	[404, 'NOT_FOUND'],
	[408, 'DEADLINE_EXCEEDED'],
	[409, 'ALREADY_EXISTS'],
	[412, 'FAILED_PRECONDITION'],
	[429, 'RESOURCE_EXHAUSTED'],
	[502, 'UNAVAILABLE'],
	[503, 'UNAVAILABLE'],
	[504, 'DEADLINE_EXCEEDED'],
	[418, 'UNKNOWN'],
])('status %d is named %s', (code, name) => {
	expect(getStatusName(code)).toBe(name);
});

/** As n8n gets it of an item that fails. */
const itemOf = (failure: NodeError, own: INode = node) =>
	createErrorItem(own, failure, 7, new Sanitizer());
const errorOf = (failure: NodeError) => createNodeApiError(node, failure, 3, new Sanitizer());

test('an error item has the error as its only key, and is paired', () => {
	expect(itemOf(new NodeError({ code: 404, message: 'No such step' }))).toEqual({
		json: { error: { code: 404, message: 'No such step', status: 'NOT_FOUND' } },
		pairedItem: { item: 7 },
	});
});

test('the error that stops the node keeps our words even where n8n has stock texts', () => {
	const texts = { message: 'Refused: ECONNREFUSED', description: 'Do this' };
	const error = errorOf(new NodeError({ code: 401, ...texts }));
	expect(error).toMatchObject({ ...texts, httpCode: '401' });
	expect(error.context.itemIndex).toBe(3);
});

test('the editor makes no markup of an error; other readers get the text', () => {
	const text = 'Said <img src="x"> </a> <!-- --> 1 < 2 <3';
	const failure = new NodeError({ code: 400, message: text, description: `${text}!` });
	const shown = 'Said <\u200bimg src="x"> <\u200b/a> <\u200b!-- --> 1 < 2 <3';
	const error = errorOf(failure);
	expect([error.message, error.description]).toEqual([shown, `${shown}!`]);
	expect(itemOf(failure).json).toMatchObject({ error: { message: `${text}. ${text}!` } });
});

test('a tool gets an error that fits its model, without the details that do not', () => {
	const facts = { code: 400, message: 'It failed', description: 'Do it.' };
	const jsonOf = (type: string, more: object) =>
		JSON.stringify(itemOf(new NodeError({ ...facts, ...more }), { ...node, type }).json);
	const long = { description: 'x'.repeat(50_000), details: { made: ['a'] } };
	expect(jsonOf('test.nodeTool', long).length).toBeLessThan(30_000);
	const details = { messages: ['y'.repeat(32_000)] };
	const error = { code: 400, message: 'It failed. Do it.', status: 'INVALID_ARGUMENT' };
	expect(jsonOf('test.nodeTool', { details })).toBe(JSON.stringify({ error }));
	expect(jsonOf('test.node', { details })).toContain('yyy');
});

test('nothing that n8n keeps of an error holds a secret, or a line of its own', () => {
	const secret = 'canary-key';
	const text = `no\n${secret} ${Buffer.from(`:${secret}`).toString('base64')}`;
	const cause = Object.assign(new Error(text), { config: { headers: { 'x-api-key': secret } } });
	const details = { sessionId: 's1', response: { [secret]: [`a ${secret}`] } };
	const texts = { message: text, description: text, status: text };
	const failure = new NodeError({ code: 502, ...texts, cause, details });
	const sanitizer = new Sanitizer([secret]);
	const error = createNodeApiError(node, failure, 0, sanitizer);
	expect(error.message).toMatch(/^no ••• \S{0,3}•••\S{0,3}$/);
	for (const kept of [error, createErrorItem(node, failure, 0, sanitizer)]) {
		expect(
			`${inspect(kept, { depth: null, showHidden: true })} ${JSON.stringify(kept)}`,
		).not.toMatch(/canary|OmNhbmFyeS1rZXk|no\\n/);
	}
});

test('an error of n8n about the input is a 400, an unforeseen one a 500', () => {
	const missing = { message: 'No binary field', description: 'Name one' };
	const thrown = new NodeOperationError(node, missing.message, missing);
	expect(toNodeError(thrown)).toMatchObject({ code: 400, ...missing });
	const unforeseen = { code: 500, status: 'INTERNAL' };
	expect(toNodeError(new TypeError('x is undefined'))).toMatchObject(unforeseen);
	expect(toNodeError('text')).toMatchObject({ ...unforeseen, message: 'text' });
	expect(toNodeError(createRefusal('No'))).toMatchObject({ code: 400, message: 'No' });
});

test('a failure is certainly not done, and would fail again, unless it is said to be otherwise', () => {
	const certain = { outcome: 'notDone', retryable: false };
	expect(new NodeError({ code: 500, message: 'No' })).toMatchObject(certain);
});

test('a model is told what to do in the message, without the code of an error', () => {
	const tool = { ...node, type: 'tTool' };
	const lost = { code: 503, message: 'It is lost', description: 'Wait (ECONNRESET)' };
	const error = createNodeApiError(tool, new NodeError(lost), undefined, new Sanitizer());
	expect([error.message, error.description]).toEqual(['It is lost. Wait', 'Wait']);
	expect(error.context).not.toHaveProperty('itemIndex');
	const { json } = itemOf(new NodeError({ code: 400, message: 'No!' }), tool);
	expect(json).toEqual({ error: { code: 400, message: 'No!', status: 'INVALID_ARGUMENT' } });
});

test('only what the service says is not there is undefined', async () => {
	const refused = async (error: Error) => await ignoreNotFound<number>(Promise.reject(error));
	expect(await refused(new NodeError({ code: 404, message: 'Gone' }))).toBeUndefined();
	await expect(refused(new NodeError({ code: 403, message: 'No' }))).rejects.toThrow('No');
	const notOurs = Object.assign(new Error('Not ours'), { code: 404 });
	await expect(refused(notOurs)).rejects.toThrow('Not ours');
	expect(await ignoreNotFound(Promise.resolve(5))).toBe(5);
});

test('bytes that n8n does not take: what it would not save, and nothing of its disk', async () => {
	const full = Object.assign(new Error('/srv/x'), { code: 'ENOSPC' });
	const refusing = { prepareBinaryData: () => Promise.reject(full) };
	await expect(storeBinary(refusing, Buffer.alloc(1000))).rejects.toMatchObject({
		code: 500,
		message: 'n8n could not save a file of 1,000 bytes',
		description: expect.stringMatching(/free space .* write to it\.$/) as string,
	});
	const stored = { data: '', mimeType: 'a/b' };
	const taking = { prepareBinaryData: () => Promise.resolve(stored) };
	expect(await storeBinary(taking, Buffer.alloc(1))).toBe(stored);
});
