import { setTimeout as sleep } from 'node:timers/promises';

import { Sanitizer } from '../../../nodes/items/secrets/sanitizer';
import { Connection } from '../../../nodes/Workspace/google/connection';
import { contextOf } from '../runNode';
import { json, scriptedServer, type ScriptedServer } from '../server';

let server: ScriptedServer;

beforeEach(async () => {
	server = await scriptedServer(json({ id: 'f1' }));
});
afterEach(() => server.close());

/** Clients in n8n's own context, and how often n8n was asked for the credential. */
async function opened() {
	const context = contextOf({ url: server.url, parameters: {} });
	const reads = jest.spyOn(context, 'getCredentials');
	const connection = await Connection.open(context, 'oAuth2', new Sanitizer());
	const limits = { maxTries: 1, maxRetryWaitMilliseconds: 0, timeoutMilliseconds: 5000 };
	const { drive } = await connection.clients(limits);
	return { get: () => drive.files.get({ fileId: 'f1' }), reads };
}

test('the first request goes out with the credential as it was read for the run, a later one reads it anew', async () => {
	const { get, reads } = await opened();
	await get();
	expect(reads).toHaveBeenCalledTimes(1);
	await get();
	expect(reads).toHaveBeenCalledTimes(2);
	await get();
	expect(reads).toHaveBeenCalledTimes(3);
	const authorizations = server.received.map(({ headers }) => headers.authorization);
	expect(authorizations).toEqual(Array(3).fill('Bearer canary-access-token'));
});

test('of several first requests one goes out with it', async () => {
	const { get, reads } = await opened();
	await Promise.all([get(), get(), get()]);
	expect(reads).toHaveBeenCalledTimes(3);
});

test('what was read long before the first request is read again', async () => {
	const { get, reads } = await opened();
	await sleep(1100);
	await get();
	expect(reads).toHaveBeenCalledTimes(2);
});
