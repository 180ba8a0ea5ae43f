import { turns } from '../../turns';
import { catchFailure } from '../catchFailure';
import { quickGates, testClients } from '../client';
import type { TransportOptions } from '../../../nodes/Workspace/google/transport';
import {
	googleError,
	json,
	reset,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from '../scriptedServer';

let server: ScriptedServer;

async function serve(script: Answer[], options: Partial<TransportOptions> = {}) {
	server = await startScriptedServer(...script);
	return testClients(server.url, 'token-1', { maxRetryWaitMilliseconds: 30, ...options });
}

afterEach(async () => {
	jest.restoreAllMocks();
	await server.close();
});

const get = { spreadsheetId: 's1', range: 'A1' };
const send = { userId: 'me', requestBody: { raw: 'abc' } };
const append = { ...get, valueInputOption: 'RAW', requestBody: { values: [[1]] } };
const update = append;

const limited = googleError(429, 'Quota exceeded');
const userLimit = googleError(403, 'No', { errors: [{ reason: 'userRateLimitExceeded' }] });
const sheetsLimit = googleError(403, 'No', { details: [{ reason: 'RATE_LIMIT_EXCEEDED' }] });
const unavailable = googleError(503, 'The service is currently unavailable.');
const cut: Answer = (response) => {
	response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
	response.write('{"id":');
	setImmediate(() => response.socket?.resetAndDestroy());
};
/** A chunked answer without a length that ends too early. */
const cutChunked: Answer = (response) => {
	response.writeHead(200, { 'content-type': 'application/json' });
	response.write('{"id":');
	setImmediate(() => response.socket?.destroy());
};

describe('what was surely not carried out is repeated, a send too', () => {
	it.each([
		['429', limited],
		['403 with a rate reason in errors', userLimit],
		['403 with a rate reason in details', sheetsLimit],
	])('after %s', async (_, answer) => {
		const clients = await serve([answer, answer, json({ id: 'm1' })], {
			maxRetryWaitMilliseconds: 5000,
		});
		jest.spyOn(Math, 'random').mockReturnValue(0.001);
		const { data } = await clients.gmail.users.messages.send(send);
		expect(data).toEqual({ id: 'm1' });
		expect(server.received.map(({ body }) => String(body))).toEqual(
			Array(3).fill('{"raw":"abc"}'),
		);
	});

	it('when nobody listens', async () => {
		const clients = await serve([json({})]);
		await server.close();
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		expect(failure).toMatchObject({ code: 503, status: 'UNAVAILABLE', outcome: 'notDone' });
		expect(failure.message).toMatch(
			/^No connection to 127\.0\.0\.1:\d+: the connection was refused$/,
		);
		expect(failure.description).toContain('Tried');
		server = await startScriptedServer();
	});
});

describe('what may have been carried out', () => {
	it.each([
		['503', unavailable],
		['500', googleError(500, 'Internal')],
		['a reset', reset],
		['an answer cut short', cut],
		['a chunked answer cut short', cutChunked],
	])('is repeated after %s where that is harmless', async (_, answer) => {
		const clients = await serve([answer, json({ values: [[1]] })]);
		await expect(clients.sheets.spreadsheets.values.get(get)).resolves.toMatchObject({
			data: { values: [[1]] },
		});
		await server.close();
		const again = await serve([answer, json({ updatedRows: 1 })]);
		await expect(again.sheets.spreadsheets.values.update(update)).resolves.toMatchObject({
			data: { updatedRows: 1 },
		});
	});

	it.each([
		['503', unavailable, 503],
		['a reset', reset, 503],
		['an answer cut short', cut, 502],
	])('is not sent again after %s, and said to be unknown', async (_, answer, code) => {
		const clients = await serve([answer, json({ id: 'm1' })]);
		const failure = await catchFailure(clients.sheets.spreadsheets.values.append(append));
		expect(failure).toMatchObject({ code, outcome: 'unknown' });
		expect(server.received).toHaveLength(1);
	});

	it('stays unknown when a later try is refused', async () => {
		const clients = await serve([
			reset,
			googleError(409, 'A file already exists with the provided ID.'),
		]);
		const repeat = { retryConfig: { httpMethodsToRetry: ['POST'] } };
		const failure = await catchFailure(
			clients.drive.files.create({ requestBody: { id: 'f1' } }, repeat),
		);
		expect(failure).toMatchObject({ code: 409, status: 'ALREADY_EXISTS', outcome: 'unknown' });
	});

	it('is never unknown for a read', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const clients = await serve([unavailable], { maxRetryWaitMilliseconds: 200 });
		const failure = await catchFailure(clients.docs.documents.get({ documentId: 'd1' }));
		expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
		expect(failure.description).toContain('Tried 2 times.');
		expect(server.received).toHaveLength(2);
	});
});

it('a stopped execution ends a wait, and nothing is sent any more', async () => {
	const stop = new AbortController();
	// The line is logged right before the wait.
	const log = () =>
		setImmediate(() => {
			stop.abort();
		});
	const limits = { signal: stop.signal, maxRetryWaitMilliseconds: 60_000, log };
	const clients = await serve([googleError(429, 'No', {}, { 'retry-after': '30' })], limits);
	const failure = await catchFailure(clients.gmail.users.messages.send(send));
	expect(failure).toMatchObject({ code: 499, outcome: 'notDone' });
	const next = await catchFailure(clients.drive.files.list({}));
	expect(next.code).toBe(499);
	expect(server.received).toHaveLength(1);
});

describe('requests in flight', () => {
	const mail = (id: string) => ({ userId: 'me', id });
	const held: Array<() => void> = [];
	/** Answers when nothing more has come for a while, so that all are in flight that may be. */
	const slow: Answer = (response, request) => {
		const count = held.push(() => {
			json({ id: 'm' })(response, request);
		});
		void turns(100).then(() => {
			if (held.length === count) for (const answer of held.splice(0)) answer();
		});
	};

	it('begin with five for a credential, also through other clients, and double while all is well', async () => {
		const findGate = quickGates();
		const clients = await serve([slow], { credentialKey: 'a', findGate });
		const others = testClients(server.url, 'token-1', { credentialKey: 'a', findGate });
		const ask = async (count: number) => {
			const ids = Array.from({ length: count }, (_, n) => `m${n}`);
			await Promise.all(
				ids.map((id, n) => (n % 2 ? clients : others).gmail.users.messages.get(mail(id))),
			);
		};
		await ask(8);
		expect(server.mostAtOnce).toBe(5);
		await ask(60);
		expect(server.received).toHaveLength(68);
		expect(server.mostAtOnce).toBe(20);
	});
});
