// A process that sends mails with keys, as an n8n worker does: a number of the mail comes in, whether it was a repetition goes out.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

import { send } from '../../nodes/Workspace/actions/mail/send.operation';
import { createClients } from '../../nodes/Workspace/google/clients';
import type { Item } from '../../nodes/Workspace/operation';
import { paramsOf } from '../../nodes/parameters/params';

const [url = ''] = process.argv.slice(2);
const bases = { mail: `${url}/gmail/v1`, sheets: url, docs: url, drive: url };
const clients = createClients(
	async ({ url: address, method, headers, body }) => {
		const answer = await fetch(address, {
			method,
			headers: { ...(headers as Record<string, string>), authorization: 'Bearer bench' },
			body: Buffer.isBuffer(body) ? new Uint8Array(body) : undefined,
		});
		return {
			statusCode: answer.status,
			headers: Object.fromEntries(answer.headers),
			body: Readable.fromWeb(answer.body as ReadableStream),
		};
	},
	bases,
	{
		maxTries: 1,
		maxRetryWaitMilliseconds: 0,
		timeoutMilliseconds: 30_000,
		signal: undefined,
		credentialKey: 'bench',
		signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
	},
);

function itemOf(): Item {
	const nothing = () => undefined;
	const none = () => Promise.reject(new Error('no files'));
	return {
		...{ index: 0, json: {}, token: randomUUID(), signal: undefined, binaryFields: [] },
		...{ binary: none, file: none, once: async (_key, ask) => await ask() },
		...{ made: nothing, hint: nothing, log: nothing },
	};
}

process.on('message', (number: number) => {
	const given = {
		...{ to: 'ann@example.com', subject: `Order ${number} has shipped`, body: 'Hi' },
		idempotencyKey: `order-${number}`,
	};
	const params = paramsOf([...send.fields, ...send.options], given, { mode: 'fields', timezone: 'UTC' });
	const sending = send.execute(clients, params, itemOf());
	sending.then(
		({ repeated }) => process.send?.({ number, repeated: repeated === true }),
		(error: unknown) => process.send?.({ number, error: String(error) }),
	);
});
process.send?.('ready');
