import { Sanitizer } from '../../../nodes/core/sanitizer';
import { connect } from '../../../nodes/Workspace/google/googleConnection';
import { contextOf } from '../runNode';
import { json, scriptedServer, type ScriptedServer } from '../server';

let server: ScriptedServer;

beforeEach(async () => {
	server = await scriptedServer(json({ id: 'f1' }));
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

/** Clients in n8n's own context, and how often n8n was asked for the credential. */
async function opened() {
	const context = contextOf({ url: server.url, parameters: {} });
	const reads = jest.spyOn(context, 'getCredentials');
	const connection = await connect(context, 'oAuth2', new Sanitizer());
	const limits = { maxTries: 1, maxRetryWaitMilliseconds: 0, timeoutMilliseconds: 5000 };
	const { drive } = await connection.clients(limits);
	return { get: () => drive.files.get({ fileId: 'f1' }), reads };
}

test('requests share what was read for the run', async () => {
	const { get, reads } = await opened();
	await get();
	await Promise.all([get(), get(), get()]);
	expect(reads).toHaveBeenCalledTimes(1);
	const authorizations = server.received.map(({ headers }) => headers.authorization);
	expect(authorizations).toEqual(Array(4).fill('Bearer canary-access-token'));
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

test('a failed read is not shared with later requests', async () => {
	const clock = stoppedClock();
	const { get, reads } = await opened();
	clock.now += 1000;
	reads.mockRejectedValueOnce(new Error('The database is locked'));
	await expect(get()).rejects.toThrow();
	await get();
	expect(reads).toHaveBeenCalledTimes(3);
});

test('a secret that n8n puts into the shared credential while requests run is removed from texts', async () => {
	const clock = stoppedClock();
	const context = contextOf({ url: server.url, parameters: {} });
	const sanitizer = new Sanitizer();
	const connection = await connect(context, 'oAuth2', sanitizer);
	const limits = { maxTries: 1, maxRetryWaitMilliseconds: 0, timeoutMilliseconds: 5000 };
	const { drive } = await connection.clients(limits);
	const reads = jest.spyOn(context, 'getCredentials');
	clock.now += 1000;
	await drive.files.get({ fileId: 'f1' });
	const shared = (await reads.mock.results[0]?.value) as { oauthTokenData: object };
	shared.oauthTokenData = { access_token: 'canary-refreshed-token' };
	await drive.files.get({ fileId: 'f1' });
	expect(reads).toHaveBeenCalledTimes(1);
	expect(sanitizer.text('The token canary-refreshed-token is wrong')).not.toContain('canary-refreshed-token');
});

test('n8n’s log says at info level how long a rate limit keeps the node waiting', async () => {
	let refused = 0;
	await server.close();
	server = await scriptedServer((response, request) => {
		if (refused++ > 0) json({ id: 'f1' })(response, request);
		else response.writeHead(429, { 'retry-after': '1' }).end('{}');
	});
	const context = contextOf({ url: server.url, parameters: {} });
	const info = jest.spyOn(context.logger, 'info');
	const connection = await connect(context, 'oAuth2', new Sanitizer());
	const limits = { maxTries: 2, maxRetryWaitMilliseconds: 5000, timeoutMilliseconds: 5000 };
	const { drive } = await connection.clients(limits);
	await drive.files.get({ fileId: 'f1' });
	expect(info.mock.calls.map(([text]) => text)).toEqual([
		expect.stringMatching(/^Google is rate-limiting requests: waiting \d+ s before the next request$/),
	]);
});
