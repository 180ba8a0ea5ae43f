import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';

import { Sanitizer } from '../../../nodes/core/sanitizer';
import {
	readApiBases,
	readGoogleCredential,
} from '../../../nodes/Workspace/google/googleCredential';
import { googleApiBases } from '../../../nodes/Workspace/google/endpoints';
import {
	createTransport,
	resolveApiUrl,
	getUploadBase,
} from '../../../nodes/Workspace/google/transport';
import { basesAt, testClients, transportOptions } from '../client';
import { n8nSender } from '../n8nSender';
import { createNodeContext } from '../runNode';
import {
	googleError,
	json,
	startScriptedServer,
	type Answer,
	type ScriptedServer,
} from '../scriptedServer';

describe('transport', () => {
	let server: ScriptedServer;

	async function serve(...script: Answer[]) {
		server = await startScriptedServer(...script);
		return testClients(server.url, 'token-1', { maxRetryWaitMilliseconds: 2000 });
	}

	afterEach(() => server.close());

	const options = transportOptions({ maxRetryWaitMilliseconds: 0 });

	describe('a request', () => {
		it('goes to the base of its API with an encoded path, repeated keys and the token', async () => {
			const clients = await serve(json({ messages: [] }));
			const labelIds = ['INBOX', 'UNREAD'];
			await clients.gmail.users.messages.list({ userId: 'me', labelIds, q: 'a b+c' });
			const [request] = server.received;
			expect(request).toMatchObject({
				method: 'GET',
				url: '/gmail/v1/users/me/messages?labelIds=INBOX&labelIds=UNREAD&q=a+b%2Bc',
			});
			expect(request?.headers).toMatchObject({ authorization: 'Bearer token-1' });
		});

		it('takes a text that was cut in the middle of an emoji', async () => {
			const clients = await serve(json({ messages: [] }));
			await clients.gmail.users.messages.list({ userId: 'me', q: 'a🧾'.slice(0, -1) });
			expect(server.received[0]?.url).toBe('/gmail/v1/users/me/messages?q=a%EF%BF%BD');
		});

		it('stays on its host whatever the environment says', async () => {
			process.env['GOOGLE_CLOUD_UNIVERSE_DOMAIN'] = 'elsewhere.example';
			try {
				const clients = await serve(json({}));
				await clients.drive.files.get({ fileId: 'f1' });
				expect(server.received).toHaveLength(1);
			} finally {
				delete process.env['GOOGLE_CLOUD_UNIVERSE_DOMAIN'];
			}
		});

		it('never leaves for a host outside the bases', async () => {
			await serve(json({}));
			const { request } = createTransport(n8nSender('token-1'), basesAt(server.url), options);
			const url = 'https://elsewhere.example/upload?id=1';
			const requesting = request({ url, method: 'PUT' });
			await expect(requesting).rejects.toMatchObject({ name: 'NodeError', code: 400 });
			expect(server.received).toHaveLength(0);
		});
	});

	describe('an answer', () => {
		const inGzip =
			(packed: Buffer): Answer =>
			(response) => {
				const type = { 'content-type': 'application/json' };
				response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(packed);
			};

		it('is unzipped and parsed', async () => {
			const clients = await serve(inGzip(gzipSync('{"files":[{"id":"ä"}]}')));
			const { data, headers } = await clients.drive.files.list({});
			expect(data).toEqual({ files: [{ id: 'ä' }] });
			expect(headers).toMatchObject({ 'content-type': 'application/json' });
		});

		it('of nine million nested lists in 17 kB of gzip is refused', async () => {
			const bomb = gzipSync('['.repeat(9_000_000), { level: 9 });
			expect(bomb.length).toBeLessThan(17_600);
			const clients = await serve(inGzip(bomb));
			const message = "Google's response has too many parts to read, or is nested too deeply";
			const reading = clients.sheets.spreadsheets.get({ spreadsheetId: 's1' });
			await expect(reading).rejects.toMatchObject({ code: 502, message });
			expect(server.received).toHaveLength(1);
		});

		it('that redirects is not followed', async () => {
			const clients = await serve((response) =>
				response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
			);
			await expect(clients.drive.files.get({ fileId: 'f1' })).rejects.toMatchObject({
				code: 302,
				status: 'FAILED_PRECONDITION',
				message: 'Google Drive responded with a redirect (HTTP 302)',
			});
		});

		it('of more than 64 MiB is refused while it comes in', async () => {
			let sentBytes = 0;
			const clients = await serve((response) => {
				const piece = Buffer.alloc(1024 * 1024, ' ');
				const write = () => {
					while (sentBytes < 400 * piece.length) {
						sentBytes += piece.length;
						if (!response.write(piece)) return response.once('drain', write);
					}
					return response.end();
				};
				write();
			});
			const message = "Google's response is larger than 64 MiB";
			const reading = clients.sheets.spreadsheets.get({ spreadsheetId: 's1' });
			await expect(reading).rejects.toMatchObject({ code: 502, message });
			expect(server.received).toHaveLength(1);
			expect(sentBytes).toBeLessThan(200 * 1024 * 1024);
		});
	});

	describe('an n8n before 2.9', () => {
		const real = n8nSender('token-1');
		const send: typeof real = ({ ignoreHttpStatusErrors, ...request }) =>
			real({ ...request, ignoreHttpStatusErrors: Boolean(ignoreHttpStatusErrors) });
		const url = 'https://www.googleapis.com/drive/v3/files/f1';

		it('is made to refresh the token by a 401 that is thrown', async () => {
			await serve(googleError(401, 'expired'), json({ id: 'f1' }));
			const ignored: unknown[] = [];
			const watched: typeof real = async (given) => {
				ignored.push(given.ignoreHttpStatusErrors);
				return await send(given);
			};
			const { request } = createTransport(watched, basesAt(server.url), options);
			const answer = await request({ url });
			expect(answer).toMatchObject({ status: 200, data: { id: 'f1' } });
			expect(ignored).toEqual([{ ignore: true, except: [401] }, false]);
		});

		it('throws the status that the call asked for, if the token was refreshed', async () => {
			await serve(googleError(401, 'expired'), (response) =>
				response.writeHead(308, { range: 'bytes=0-41' }).end(),
			);
			const { request } = createTransport(send, basesAt(server.url), options);
			const validateStatus = (status: number) => status === 308;
			const answer = await request({ url, method: 'PUT', validateStatus });
			expect(answer).toMatchObject({ status: 308, headers: { range: 'bytes=0-41' } });
			expect(server.received).toHaveLength(2);
		});

		it('throws an answer about the token as well, which is none to the call', async () => {
			await serve(googleError(401, 'expired'));
			const tokenUrl = 'https://oauth2.googleapis.com/token';
			const failure = Object.assign(new Error('x'), {
				config: { url: tokenUrl },
				response: { status: 308 },
			});
			let count = 0;
			const failing: typeof real = async (given) =>
				count++ === 0 ? await send(given) : await Promise.reject(failure);
			const { request } = createTransport(failing, basesAt(server.url), options);
			const validateStatus = (status: number) => status === 308;
			const answer = request({ url, method: 'PUT', validateStatus });
			await expect(answer).rejects.toMatchObject({ code: 401 });
		});
	});
});

describe('API bases', () => {
	const gateway = readApiBases({
		mailApiBase: 'https://gateway.example/google/gmail/v1/',
		sheetsApiBase: 'https://gateway.example/sheets',
		docsApiBase: '',
		driveApiBase: 'http://127.0.0.1:8080/drive',
	});

	test('empty and absent fields mean Google’s own bases; a trailing slash does not count', () => {
		expect(readApiBases({})).toEqual(googleApiBases);
		expect(gateway).toEqual({
			mail: 'https://gateway.example/google/gmail/v1',
			sheets: 'https://gateway.example/sheets',
			docs: googleApiBases.docs,
			drive: 'http://127.0.0.1:8080/drive',
		});
	});

	test.each([
		'gateway.example',
		'ftp://x.example',
		'https://x.example/?a=1',
		'https://u:p@x.example',
		'https://x.example/#a',
	])('%s is not a base', (driveApiBase) => {
		expect(() => readApiBases({ driveApiBase })).toThrow(
			"'Drive API Base' in the credential is not a valid API URL",
		);
	});

	const mail = 'https://gmail.googleapis.com';
	const sheets = 'https://sheets.googleapis.com/v4/spreadsheets';
	const docs = 'https://docs.googleapis.com/v1/documents';
	const drive = 'https://www.googleapis.com';
	const own = 'https://gateway.example';
	const local = 'http://127.0.0.1:8080';

	test.each([
		[`${mail}/gmail/v1/users/me/messages?q=a`, `${own}/google/gmail/v1/users/me/messages?q=a`],
		[`${mail}/upload/gmail/v1/users/me/send`, `${own}/google/upload/gmail/v1/users/me/send`],
		[sheets, `${own}/sheets`],
		[`${sheets}/s1/values/A1:append`, `${own}/sheets/s1/values/A1:append`],
		[`${docs}/d1:batchUpdate`, `${docs}/d1:batchUpdate`],
		[`${drive}/drive/v3/files`, `${local}/drive/files`],
		[`${drive}/upload/drive/v3/files`, `${local}/upload/drive/files`],
		[`${local}/session/1`, `${local}/session/1`],
	])('%s goes to %s', (url, target) => {
		expect(resolveApiUrl(url, gateway).url).toBe(target);
	});

	test.each([
		'https://elsewhere.example/drive/v3/files',
		'https://www.googleapis.com/drive/v30/files',
		'https://gateway.example.evil.example/sheets',
		'https://www.googleapis.com.evil.example/drive/v3/files',
	])('%s is refused', (url) => {
		expect(() => resolveApiUrl(url, gateway)).toThrow('outside the API bases');
	});

	test('an upload goes before the service’s own path, else after the host', () => {
		expect(getUploadBase('https://h/x/drive/v3', 'drive')).toBe('https://h/x/upload/drive/v3');
		expect(getUploadBase('https://h/x', 'drive')).toBe('https://h/upload/x');
		expect(getUploadBase('https://h/x/gmail/v1', 'mail')).toBe('https://h/x/upload/gmail/v1');
	});
});

describe('Google connection', () => {
	let server: ScriptedServer;

	beforeEach(async () => {
		server = await startScriptedServer(json({ id: 'f1' }));
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		await server.close();
	});

	/** The time that passes only when told to. */
	function stoppedClock(): { now: number } {
		const clock = { now: 1_000_000 };
		jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
		return clock;
	}

	async function loadDrive(
		context: ReturnType<typeof createNodeContext>,
		{ timeoutMilliseconds = 60_000, sanitizer = new Sanitizer() } = {},
	) {
		const connection = await readGoogleCredential(context, 'oAuth2', sanitizer);
		const limits = { maxRetryWaitMilliseconds: 0, timeoutMilliseconds };
		return (await connection.loadClients(limits)).drive;
	}

	/** Clients in n8n's own context, and how often n8n was asked for the credential. */
	async function opened() {
		const context = createNodeContext({ url: server.url, parameters: {} });
		const reads = jest.spyOn(context, 'getCredentials');
		const drive = await loadDrive(context);
		const get = () => drive.files.get({ fileId: 'f1' });
		return { get, create: () => drive.files.create({ requestBody: {} }), reads };
	}

	test('requests share what was read for the run', async () => {
		const { get, reads } = await opened();
		await get();
		await Promise.all([get(), get(), get()]);
		expect(reads).toHaveBeenCalledTimes(1);
		const authorizations = server.received.map(({ headers }) => headers.authorization);
		expect(authorizations).toEqual(Array(4).fill('Bearer canary-access-token'));
	});

	test('a credential to which nobody has signed in says so, and nothing is sent', async () => {
		const credential = { oauthTokenData: undefined };
		const context = createNodeContext({ url: server.url, parameters: {}, credential });
		await expect(loadDrive(context)).rejects.toMatchObject({
			code: 401,
			message: 'The credential has no valid token, and a new one could not be obtained',
			description: 'Open the credential and reconnect it: sign in to Google again.',
			retryable: false,
		});
		expect(server.received).toEqual([]);
	});

	test('another credential is read as ever', async () => {
		const context = createNodeContext({ url: server.url, parameters: {} });
		const readOwn = context.getCredentials.bind(context);
		const reads = jest.spyOn(context, 'getCredentials');
		reads.mockImplementation(async (type, itemIndex = 0) =>
			type === 'other' ? { name: 'other' } : await readOwn(type, itemIndex),
		);
		const { helpers } = context;
		const send = Reflect.get(helpers, 'httpRequestWithAuthentication');
		const others: unknown[] = [];
		helpers.httpRequestWithAuthentication = async function (...request) {
			others.push(await this.getCredentials('other'));
			return (await send.apply(this, request)) as unknown;
		};
		const drive = await loadDrive(context);
		await drive.files.get({ fileId: 'f1' });
		expect(others).toEqual([{ name: 'other' }]);
	});

	test('what was read a second ago is read again, once for all', async () => {
		const clock = stoppedClock();
		const { get, reads } = await opened();
		clock.now += 999;
		await get();
		expect(reads).toHaveBeenCalledTimes(1);
		clock.now += 1;
		await Promise.all([get(), get()]);
		clock.now += 999;
		await get();
		expect(reads).toHaveBeenCalledTimes(2);
	});

	test('a failed read is not shared with later requests, and sends nothing', async () => {
		const clock = stoppedClock();
		const { get, create, reads } = await opened();
		clock.now += 1000;
		const locked = new Error('The database is locked');
		reads.mockRejectedValueOnce(Object.assign(locked, { code: 'SQLITE_BUSY' }));
		const message = 'n8n could not read the credential from its database';
		await expect(create()).rejects.toMatchObject({ message, code: 503, outcome: 'notDone' });
		expect(server.received).toEqual([]);
		await get();
		expect(reads).toHaveBeenCalledTimes(3);
	});

	test('a secret that n8n puts into the shared credential while requests run is removed from texts', async () => {
		const clock = stoppedClock();
		const shared: IDataObject[] = [];
		const message = 'The token canary-refreshed-token is wrong';
		await server.close();
		server = await startScriptedServer((response, request) => {
			for (const credential of shared)
				credential['oauthTokenData'] = { access_token: 'canary-refreshed-token' };
			googleError(403, message)(response, request);
		});
		const context = createNodeContext({ url: server.url, parameters: {} });
		const sanitizer = new Sanitizer();
		const connection = await readGoogleCredential(context, 'oAuth2', sanitizer);
		const limits = { maxRetryWaitMilliseconds: 0, timeoutMilliseconds: 60_000 };
		const { drive } = await connection.loadClients(limits);
		const reads = jest.spyOn(context, 'getCredentials');
		clock.now += 1000;
		await expect(drive.files.get({ fileId: 'f1' })).rejects.toThrow();
		shared.push((await reads.mock.results[0]?.value) as IDataObject);
		await expect(drive.files.get({ fileId: 'f1' })).rejects.toThrow(message);
		expect(reads).toHaveBeenCalledTimes(1);
		expect(sanitizer.sanitizeText(message)).not.toContain('canary-refreshed-token');
	});

	test.each([
		[200, 1000, 504],
		[401, 1e6, 401],
		[403, 1e6, 403],
	])(
		'a body that never ends does not hold up the request: HTTP %d',
		async (status, timeoutMilliseconds, code) => {
			const closed: unknown[] = [];
			await server.close();
			server = await startScriptedServer((response) => {
				closed.push(once(response, 'close'));
				response.writeHead(status, { 'content-length': '1000' }).write('{');
			});
			const context = createNodeContext({ url: server.url, parameters: {} });
			const drive = await loadDrive(context, { timeoutMilliseconds });
			await expect(drive.files.get({ fileId: 'f1' })).rejects.toMatchObject({ code });
			// Of the first 401, n8n has left the body unread.
			await closed.at(-1);
		},
	);
});
