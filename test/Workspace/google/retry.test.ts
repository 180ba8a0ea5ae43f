import { holdTimers } from '../../heldTimers';
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

const limited = googleError(429, 'Quota exceeded', { status: 'RESOURCE_EXHAUSTED' });
const limitedFor = (seconds: string) =>
	googleError(
		429,
		'Quota exceeded',
		{ status: 'RESOURCE_EXHAUSTED' },
		{ 'retry-after': seconds },
	);
const userLimit = googleError(403, 'User-rate limit exceeded.', {
	errors: [{ domain: 'usageLimits', reason: 'userRateLimitExceeded' }],
});
const sheetsLimit = googleError(403, 'Quota exceeded for quota metric', {
	status: 'PERMISSION_DENIED',
	details: [
		{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED' },
	],
});
const unavailable = googleError(503, 'The service is currently unavailable.', {
	status: 'UNAVAILABLE',
});
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

	it('is repeated for a POST that says that this is harmless', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(0.001);
		const clients = await serve([reset, unavailable, json({ id: 'f1' })], {
			maxRetryWaitMilliseconds: 5000,
		});
		const repeat = { retryConfig: { httpMethodsToRetry: ['POST'] } };
		await expect(
			clients.drive.files.create({ requestBody: { id: 'f1' } }, repeat),
		).resolves.toMatchObject({ data: { id: 'f1' } });
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

describe('other refusals are final', () => {
	it.each([400, 403, 404, 412])('%d', async (code) => {
		const clients = await serve([googleError(code, 'No.')]);
		const failure = await catchFailure(clients.drive.files.get({ fileId: 'f1' }));
		expect(failure.code).toBe(code);
		expect(server.received).toHaveLength(1);
	});
});

describe('Retry-After', () => {
	it('longer than is allowed ends the tries at once and states the wait', async () => {
		const clients = await serve([limitedFor('120')], { maxRetryWaitMilliseconds: 60_000 });
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		const exhausted = { code: 429, status: 'RESOURCE_EXHAUSTED', outcome: 'notDone' };
		expect(failure).toMatchObject({ ...exhausted, retryAfterMilliseconds: 120_000 });
		const told = "Google asks n8n to wait 120 seconds, but 'maxRetryWaitSeconds' allows 60.";
		expect(failure.description).toContain(told);
		expect(server.received).toHaveLength(1);
	});
});

describe('the time in Gmail’s message', () => {
	const until = (milliseconds: number) =>
		googleError(
			429,
			`User-rate limit exceeded.  Retry after ${new Date(Date.now() + milliseconds).toISOString()}`,
		);

	it('counts as Retry-After', async () => {
		jest.spyOn(Date, 'now').mockReturnValue(Date.now());
		const clients = await serve([until(900_000)], { maxRetryWaitMilliseconds: 60_000 });
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		expect(failure.description).toMatch(
			/^Google asks n8n to wait 900 seconds, but 'maxRetryWaitSeconds' allows 60\./,
		);
		expect(server.received).toHaveLength(1);
	});

	it('that has passed is no wait', async () => {
		const clients = await serve([until(-1000), json({ id: 'm1' })]);
		const { data } = await clients.gmail.users.messages.send(send);
		expect(data).toEqual({ id: 'm1' });
	});
});

describe('the limits', () => {
	const timeoutMilliseconds = 70_000;

	it('are the time alone for a refusal for quota', async () => {
		const answers = Array<Answer>(6).fill(limited);
		const limits = { maxRetryWaitMilliseconds: 5000 };
		const clients = await serve([...answers, json({ values: [] })], limits);
		await clients.sheets.spreadsheets.values.get(get);
		expect(server.received).toHaveLength(7);
	});

	it('hold a request that is never answered: 504', async () => {
		const endTime = holdTimers(timeoutMilliseconds);
		const clients = await serve([endTime], { timeoutMilliseconds });
		const failure = await catchFailure(clients.sheets.spreadsheets.values.append(append));
		const status = 'DEADLINE_EXCEEDED';
		expect(failure).toMatchObject({ code: 504, status, outcome: 'unknown' });
		expect(server.received).toHaveLength(1);
	});

	it('hold an answer that drips', async () => {
		const endTime = holdTimers(timeoutMilliseconds);
		const timers: NodeJS.Timeout[] = [];
		const drip: Answer = (response) => {
			response.writeHead(200, { 'content-type': 'application/json' });
			let pieces = 0;
			const write = () => {
				response.write(' ');
				if (++pieces === 5) endTime();
			};
			timers.push(setInterval(write, 10));
		};
		const clients = await serve([drip], { timeoutMilliseconds });
		const failure = await catchFailure(clients.drive.files.get({ fileId: 'f1' }));
		expect(failure.code).toBe(504);
		timers.forEach(clearInterval);
	});
});

describe('a stopped execution', () => {
	it('ends a request in flight', async () => {
		const stop = new AbortController();
		const abort: Answer = () => {
			stop.abort();
		};
		const clients = await serve([abort], { signal: stop.signal });
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		const message = 'The execution was stopped';
		expect(failure).toMatchObject({ code: 499, message, outcome: 'unknown' });
	});

	it('ends a wait, and nothing is sent any more', async () => {
		const stop = new AbortController();
		// The line is logged right before the wait.
		const log = () =>
			setImmediate(() => {
				stop.abort();
			});
		const limits = { signal: stop.signal, maxRetryWaitMilliseconds: 60_000, log };
		const clients = await serve([limitedFor('30')], limits);
		const failure = await catchFailure(clients.gmail.users.messages.send(send));
		expect(failure).toMatchObject({ code: 499, outcome: 'notDone' });
		const next = await catchFailure(clients.drive.files.list({}));
		expect(next.code).toBe(499);
		expect(server.received).toHaveLength(1);
	});
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

	it('of one credential do not hold those of another', async () => {
		const clients = await serve([slow], { credentialKey: 'b' });
		const others = testClients(server.url, 'token-2', { credentialKey: 'c' });
		const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
		await Promise.all(
			ids.map((id, n) => (n % 2 ? clients : others).gmail.users.messages.get(mail(id))),
		);
		expect(server.mostAtOnce).toBeGreaterThan(5);
	});

	it('leave their place while they wait for the next try', async () => {
		const own = { credentialKey: 'd', maxRetryWaitMilliseconds: 5000 };
		const clients = await serve([limitedFor('1'), json({})], own);
		const first = clients.drive.files.list({});
		await Promise.all(Array.from({ length: 5 }, () => clients.drive.files.list({})));
		await first;
		expect(server.received).toHaveLength(7);
	});
});
