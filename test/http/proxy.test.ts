// What a proxy answers to CONNECT is not the service's answer, whichever node sends the request.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { getRequestHelperFunctions } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helper-functions';
import type { INode, IWorkflowExecuteAdditionalData, Workflow } from 'n8n-workflow';

import { WorkspaceServiceAccountApi } from '../../credentials/WorkspaceServiceAccountApi.credentials';
import { isNodeError } from '../../nodes/core/errors';

import {
	attemptRequest,
	awaitResponse,
	baseRequestOptions,
	type RequestSender,
} from '../../nodes/http/attempt';
import { readBody } from '../../nodes/http/body';
import { createTransport } from '../../nodes/Workspace/google/transport';
import { ConnectProxy } from '../Agent/session/connectProxy';
import { catchFailure } from '../Workspace/catchFailure';
import { basesAt, testClients, transportOptions } from '../Workspace/client';
import { n8nSender } from '../Workspace/n8nSender';
import { oAuthSender } from '../Workspace/oAuthSender';
import { googleError, startScriptedServer } from '../Workspace/scriptedServer';

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

test.each(['end', 'reset'] as const)(
	'an append whose connection a proxy ends (%s) before it answers was certainly not made, and is sent again',
	async (behaviour) => {
		proxy.behaviour = behaviour;
		const clients = testClients('https://google.test', 'token', {
			maxRetryWaitMilliseconds: 400,
		});
		const failure = await catchFailure(clients.sheets.spreadsheets.values.append(append));
		expect(failure).toMatchObject({ code: 503, outcome: 'notDone' });
		expect(failure.message).toContain('No connection to google.test');
		expect(proxy.asked.length).toBeGreaterThan(1);
	},
);

describe('a request for a token that a proxy answers', () => {
	const credential = { email: 'robot@p.example', scope: 's', tokenUrl: 'https://token.test/' };
	const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
	const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
	const helpers = getRequestHelperFunctions(
		...([{}, {}, {}] as unknown as [Workflow, INode, IWorkflowExecuteAdditionalData]),
	);
	const account = new WorkspaceServiceAccountApi();
	/** As n8n does before a request with a credential that has no token. */
	const signIn: RequestSender = async () => {
		const given = { ...credential, privateKey };
		throw new Error(JSON.stringify(await account.preAuthentication.call({ helpers }, given)));
	};
	const tokens = { access_token: 'old', refresh_token: 'r', token_type: 'Bearer' };

	const senders = {
		'service account': signIn,
		OAuth2: oAuthSender(credential.tokenUrl, tokens).send,
	};

	test.each([
		[407, 'service account', 1],
		[429, 'service account', 2],
		[403, 'OAuth2', 1],
		[429, 'OAuth2', 2],
	] as const)('with %d is named (%s)', async (status, who, times) => {
		proxy.behaviour = status;
		const server = await startScriptedServer(googleError(401, 'expired'));
		const options = transportOptions({ maxRetryWaitMilliseconds: 1000 });
		const { request } = createTransport(senders[who], basesAt(server.url), options);
		const url = 'https://www.googleapis.com/drive/v3/files';
		const failure = await catchFailure(request({ url, method: 'POST' }));
		expect(failure).toMatchObject({ code: status, outcome: 'notDone' });
		expect(failure.message).toBe(
			`The proxy did not connect n8n to token.test: it responded with HTTP ${status}`,
		);
		expect(proxy.asked.length).toBeGreaterThanOrEqual(times);
		if (times === 1) expect(proxy.asked).toHaveLength(1);
		await server.close();
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
	const server = await startScriptedServer((response) => response.end('sent'));
	const send = n8nSender('token');
	const { signal } = new AbortController();
	const response = await awaitResponse(
		() => send({ ...baseRequestOptions, method: 'POST', url: server.url }),
		'https://google.test/',
		signal,
	);
	expect(String(await readBody(response, signal))).toBe('sent');
	await server.close();
});
