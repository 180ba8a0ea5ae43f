// What a proxy answers to CONNECT is not the service's answer, whichever node sends the request.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { isNodeError } from '../../nodes/core/errors';

import { attemptRequest, awaitResponse, baseRequestOptions } from '../../nodes/http/attempt';
import { readBody } from '../../nodes/http/body';
import { ConnectProxy } from '../Agent/session/connectProxy';
import { catchFailure } from '../Workspace/catchFailure';
import { testClients } from '../Workspace/client';
import { n8nSender } from '../Workspace/n8nSender';

const proxy = new ConnectProxy();
const before = process.env['HTTPS_PROXY'];

beforeAll(async () => {
	await proxy.listen();
	process.env['HTTPS_PROXY'] = proxy.address();
});
beforeEach(() => {
	proxy.asked.length = 0;
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
	if (before === undefined) delete process.env['HTTPS_PROXY'];
	else process.env['HTTPS_PROXY'] = before;
	await proxy.close();
});

const append = {
	spreadsheetId: 's1',
	range: 'A1',
	valueInputOption: 'RAW',
	requestBody: { values: [[1]] },
};

describe('an append that a proxy answers', () => {
	test.each([
		[407, 1, /user name and password, if it asks for them/],
		[403, 1, /Check that the proxy runs/],
		[429, 2, /Check that the proxy runs/],
		[502, 3, /Check that the proxy runs/],
		[503, 3, /Check that the proxy runs/],
	])('with %d was certainly not made, and is sent %d times', async (status, times, advice) => {
		proxy.behaviour = status;
		const clients = testClients('https://google.test', 'token', {
			maxRetryWaitMilliseconds: 400,
		});
		const failure = await catchFailure(clients.sheets.spreadsheets.values.append(append));
		expect(failure).toMatchObject({ code: status, outcome: 'notDone' });
		expect(failure.message).toBe(
			`The proxy did not connect n8n to google.test: it responded with HTTP ${status}`,
		);
		expect(failure.description).toMatch(advice);
		expect(proxy.asked.length).toBeGreaterThanOrEqual(Math.min(times, 2));
		if (times === 1) expect(proxy.asked).toHaveLength(1);
	});
});

test('the same status from the service itself, through the tunnel, is the service’s', async () => {
	const folder = path.join(__dirname, '../../dev/agent-service/certificate');
	const read = (name: string) => readFileSync(path.join(folder, name));
	const certificate = { key: read('test-only.key.pem'), cert: read('test-only.cert.pem') };
	const server = https.createServer(certificate, (_request, response) => {
		response.writeHead(502).end('bad');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	proxy.behaviour = 'tunnel';
	const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	const send = n8nSender('token');
	const status = await attemptRequest(
		async (signal) => {
			const response = await awaitResponse(
				() =>
					send({
						...baseRequestOptions,
						method: 'POST',
						url,
						ignoreHttpStatusErrors: true,
						skipSslCertificateValidation: true,
					}),
				url,
				signal,
			);
			return [response.statusCode, String(await readBody(response, signal))];
		},
		{
			timeoutMilliseconds: 5000,
			signal: undefined,
			texts: { service: 'The service', nothingDone: '' },
			toRequestError: (error: unknown) => {
				if (isNodeError(error)) return error;
				throw error;
			},
		},
	);
	expect([status, proxy.asked.length]).toEqual([[502, 'bad'], 1]);
	server.close();
});

test('a success is the service’s, also where something in between takes the TLS away', async () => {
	const server = http.createServer((_request, response) => response.end('sent'));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	const send = n8nSender('token');
	const { signal } = new AbortController();
	const response = await awaitResponse(
		() => send({ ...baseRequestOptions, method: 'POST', url }),
		'https://google.test/',
		signal,
	);
	expect(String(await readBody(response, signal))).toBe('sent');
	server.close();
});
