// What a call of a generated client becomes for n8n's helper, and what becomes of its answer; the helper is played.
import { Readable } from 'node:stream';
import type { IHttpRequestOptions } from 'n8n-workflow';

import type { FullResponse } from '../../../nodes/http/attempt';
import { googleApiBases } from '../../../nodes/Workspace/google/endpoints';
import {
	createTransport,
	type Transport,
	type TransportOptions,
} from '../../../nodes/Workspace/google/transport';
import { quickGates, transportOptions } from '../client';
import { catchFailure } from '../catchFailure';

const url = 'https://sheets.googleapis.com/v4/spreadsheets/s1';
const answer = (body: string | Readable, statusCode = 200, headers: object = {}): FullResponse => ({
	statusCode,
	headers: { ...headers },
	body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body,
});

/** A transport whose helper gives these answers, the last one again and again. */
function played(answers: Array<() => FullResponse>, options: Partial<TransportOptions> = {}) {
	const requests: IHttpRequestOptions[] = [];
	const { request: call } = createTransport(
		(request) => {
			requests.push({ ...request });
			const next = answers[Math.min(requests.length, answers.length) - 1];
			return Promise.resolve(next?.() ?? answer('{}'));
		},
		googleApiBases,
		transportOptions({
			maxRetryWaitMilliseconds: 400,
			timeoutMilliseconds: 5000,
			findGate: quickGates(60),
			...options,
		}),
	);
	return { requests, call };
}

/** Of the only request. */
async function requestOf(call: Parameters<Transport['request']>[0]) {
	const { requests, call: send } = played([]);
	await send(call);
	expect(requests).toHaveLength(1);
	return requests[0];
}

test('n8n gives every answer as a stream, follows no redirect and refreshes the token after a 401', async () => {
	expect(await requestOf({ url })).toMatchObject({
		method: 'GET',
		url,
		encoding: 'stream',
		returnFullResponse: true,
		disableFollowRedirect: true,
		ignoreHttpStatusErrors: { ignore: true, except: [401] },
		sendCredentialsOnCrossOriginRedirect: false,
		timeout: 5000,
	});
});

test.each([
	[undefined, 5000],
	[4999, 4999],
	[6000, 5000],
])('a call that asks for %s ms gets %d', async (timeout, expected) => {
	expect(await requestOf({ url, timeout })).toMatchObject({ timeout: expected });
});

test.each<[Parameters<Transport['request']>[0]['params'], string, string]>([
	[undefined, url, url],
	[{}, url, url],
	[{ a: undefined }, url, url],
	[{ a: 1, b: undefined, c: ['x', 'y z'] }, url, `${url}?a=1&c=x&c=y+z`],
	[{ a: 1 }, `${url}?b=2`, `${url}?b=2&a=1`],
])('the query %j on %s', async (params, to, expected) => {
	expect(await requestOf({ url: to, params })).toMatchObject({ url: expected });
});

test.each<[string, unknown, string | undefined, string | undefined]>([
	['nothing', undefined, undefined, undefined],
	['null', null, undefined, undefined],
	['an object', { a: 1 }, '{"a":1}', 'application/json'],
	['a text', 'text', 'text', undefined],
	['bytes', Buffer.from('bytes'), 'bytes', undefined],
	['a stream', Readable.from([Buffer.from('str'), Buffer.from('eam')]), 'stream', undefined],
])('%s as the body', async (_what, data, body, type) => {
	const request = await requestOf({ url, method: 'POST', data });
	expect([request?.method, request?.headers?.['content-type']]).toEqual(['POST', type]);
	expect(Buffer.isBuffer(request?.body) ? request.body.toString() : request?.body).toBe(body);
});

test.each([
	['headers of a client', new Headers({ 'Content-Type': 'a/b' })],
	['plain headers', { 'content-type': 'a/b' }],
])('%s are kept', async (_what, headers) => {
	expect(await requestOf({ url, method: 'PUT', headers, data: {} })).toMatchObject({
		headers: { 'content-type': 'a/b' },
	});
	expect(await requestOf({ url, method: 'PUT', headers })).toMatchObject({
		headers: { 'content-type': 'a/b' },
	});
});

test('an answer that does not come in time is said to be late, with the time', async () => {
	const never = new Readable({ read() {} });
	const { call } = played([() => answer(never)], { timeoutMilliseconds: 50 });
	expect(await catchFailure(call({ url, method: 'POST' }))).toMatchObject({
		code: 504,
		message: 'Google did not respond within 0.05 s',
		outcome: 'unknown',
	});
	expect(never.destroyed).toBe(true);
});

describe('tries', () => {
	test.each([
		[undefined, 2],
		[0 as const, 1],
	])('of a call with %s retries that is refused for quota', async (retry, count) => {
		const log: string[] = [];
		const limited = () => answer('{}', 429, { 'retry-after': '1' });
		const { requests, call } = played([limited, () => answer('{}')], {
			maxRetryWaitMilliseconds: 2000,
			log: (text) => log.push(text),
		});
		const done = await call({ url, method: 'POST', retryConfig: { retry } }).catch(
			() => undefined,
		);
		expect([requests.length, done?.status]).toEqual([count, count === 2 ? 200 : undefined]);
		expect(log).toEqual(
			count === 1
				? []
				: ['Google is rate-limiting requests: waiting 1 s before the next request'],
		);
	});
});

describe('an answer', () => {
	const cut = "Google's response was cut off";
	const foreign = 'Google Sheets returned a response that is not JSON';
	test.each([
		['', cut],
		[' \n', cut],
		['{"a":', cut],
		['\n[1,', cut],
		[' '.repeat(100), cut],
		['<html>', foreign],
		['null', foreign],
		['[]', foreign],
		['5', foreign],
	])('%j is no object of Google', async (body, message) => {
		const { requests, call } = played([() => answer(body)]);
		expect(await catchFailure(call({ url, method: 'POST' }))).toMatchObject({
			code: 502,
			message,
			outcome: 'unknown',
		});
		expect(requests).toHaveLength(1);
	});

	test('of bytes is not read as JSON, and of a 308 there are no data', async () => {
		const { call } = played([
			() => answer('{"a":'),
			() => answer('{"a":1}', 308, { range: 'r' }),
		]);
		const { data } = await call({ url, responseType: 'arraybuffer' });
		expect(data).toEqual(Buffer.from('{"a":'));
		expect(await call({ url, validateStatus: () => true })).toEqual({
			status: 308,
			headers: { range: 'r' },
			data: undefined,
		});
	});

	test.each([
		['{"a":', cut],
		['\n{"a":1},', cut],
		['', cut],
		['<html>}', foreign],
	])('that another thread parses is a whole object, too: %j', async (body, message) => {
		const { requests, call } = played([() => answer(body), () => answer('{"a":1} \n')]);
		const failure = await catchFailure(call({ url, method: 'POST', responseType: 'text' }));
		expect(failure).toMatchObject({ code: 502, message, outcome: 'unknown' });
		const { data } = await call({ url, responseType: 'text' });
		expect(data).toEqual(Buffer.from('{"a":1} \n'));
		expect(requests).toHaveLength(2);
	});

	test.each([
		[199, 199],
		[200, 200],
		[299, 200],
		[300, 300],
	])('with the status %d', async (status, code) => {
		const outcome = played([() => answer('{}', status)]).call({ url });
		if (code === 200) expect(await outcome).toMatchObject({ status });
		else expect(await catchFailure(outcome)).toMatchObject({ code });
	});

	const mailUrl = `${googleApiBases.mail}/users/me/messages`;
	test.each([
		['nested too deeply', '['.repeat(9_000_000), url],
		['of very many lists', `[${'[],'.repeat(3_000_000)}[]]`, url],
		['of very many lists, of emails too,', `[${'[],'.repeat(3_000_000)}[]]`, mailUrl],
	])('%s is refused before it is parsed', async (_what, body, url) => {
		const parse = jest.spyOn(JSON, 'parse');
		const { requests, call } = played([() => answer(body)]);
		expect((await catchFailure(call({ url }))).message).toContain('too many parts');
		expect([requests.length, parse.mock.calls.length]).toEqual([1, 0]);
		jest.restoreAllMocks();
	});
});
