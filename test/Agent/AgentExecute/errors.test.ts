import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { TLSSocket } from 'node:tls';

import { errorOfStatus, messageDetails } from '../../../nodes/Agent/AgentExecute/errors';
import { failureOf } from '../../executeContext';
import { runExecute } from './executeRun';

const call = {
	url: 'https://agent.example.com/execute',
	options: { timeoutSeconds: 300, maxResponseBytes: 1000 },
	redact: (text: string) => text,
};
const answered = (statusCode: number, headers = {}) =>
	errorOfStatus({ statusCode, headers, body: Buffer.from('words') }, call);

test.each([
	[401, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[403, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[404, 'final', 'The agent service was not found at this address', 'Check the Deployment URL'],
	[407, 'final', 'The proxy refused the call', 'Check the proxy'],
	[408, 'unknown', 'The agent service did not get the whole call in time', 'The service may have started'],
	[418, 'final', 'The agent service rejected the call', 'The text above'],
	[429, 'notDone', 'The agent service is rate-limiting requests', 'Lower the option'],
	[500, 'unknown', 'The agent service reported an error', 'internal error.'],
	[502, 'unknown', 'The gateway in front of the agent service got no valid', 'Check the session'],
	[503, 'unknown', 'The agent service reported an error', 'internal error.'],
	[504, 'unknown', 'The gateway in front of the agent service got no response', 'Check the session'],
])('status %d is %s, and says what happened and what to do', (code, kind, message, advice) => {
	const { kind: outcome, failure } = answered(code);
	expect([outcome, failure.code]).toEqual([kind, code]);
	expect(failure.message).toMatch(new RegExp(`^${message}.*\\(${code}\\): words$`));
	expect(failure.description).toContain(advice);
	const mayBeStarted = failure.description?.includes('The service may have started the agent');
	expect(mayBeStarted).toBe(kind === 'unknown');
});

test('503 with Retry-After says that nothing was done', () => {
	const { kind, failure } = answered(503, { 'retry-after': '3' });
	expect(kind).toBe('notDone');
	expect(failure.description).toBe('The service is temporarily busy or down. It did not start the agent.');
	expect(failure.retryAfterMilliseconds).toBe(3000);
});

const pem = (part: string) =>
	readFileSync(path.join(__dirname, `../../../dev/agent-service/certificate/test-only.${part}.pem`));

/** A service whose connections break as `respond` says, and how many requests it got. */
async function breaking(respond: (raw: Socket, received: () => void) => void) {
	let requests = 0;
	const server = createServer((raw) => {
		raw.on('error', () => undefined);
		respond(raw, () => requests++);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const run = () =>
		runExecute(
			{ url, webSocketUrl: url },
			{
				api: { allowUnauthorizedCerts: true },
				executionId: url,
				node: { retryOnFail: true },
				parameters: { options: { maxTries: 3 } },
			},
		);
	const failures = [await failureOf(run()), await failureOf(run())];
	server.close();
	return { failures, requests };
}

test('what breaks an established TLS connection may have started the agent: nothing is sent again', async () => {
	const { failures, requests } = await breaking((raw, received) => {
		const secure = new TLSSocket(raw, { isServer: true, key: pem('key'), cert: pem('cert') });
		secure.on('error', () => undefined);
		secure.once('data', () => {
			received();
			raw.write('this is no record of TLS, it is far from being one');
		});
	});
	expect(requests).toBe(1);
	for (const { message, description } of failures) {
		expect(message).toMatch(/^The connection to 127\.0\.0\.1:\d+ was lost before the service responded/);
		expect(description).toContain('The service may have started the agent.');
	}
});

test('what is no TLS was never sent, and may be tried again', async () => {
	const { failures, requests } = await breaking((raw, received) => {
		raw.once('data', () => {
			received();
			raw.end('HTTP/1.1 400 Bad Request\r\n\r\n');
		});
	});
	expect(requests).toBe(2);
	for (const { message, description } of failures) {
		expect(message).toMatch(/^No connection to 127\.0\.0\.1:\d+: the secure \(TLS\) connection failed/);
		expect(description).toContain('Check the Deployment URL in the credential');
	}
});

test('of many long messages the last ones are in the details, and how many were left out', () => {
	const message = (sequence: number) => {
		const envelope = { sessionId: 's', sequence, receivedAt: '', byteLength: 7000 };
		return { ...envelope, format: 'text' as const, message: 'x'.repeat(7000) };
	};
	const told = (count: number) => {
		const all = Array.from({ length: count }, (_, n) => message(n + 1));
		const { messages, messagesLeftOut } = messageDetails(all, (text) => text);
		return [(messages as Array<{ sequence: number }>).map(({ sequence }) => sequence), messagesLeftOut];
	};
	expect(told(4)).toEqual([[1, 2, 3, 4], undefined]);
	expect(told(5)).toEqual([[2, 3, 4, 5], 1]);
});
