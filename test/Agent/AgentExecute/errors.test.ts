import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { TLSSocket } from 'node:tls';

import {
	createAgentFailureError,
	convertFailedResponse,
	convertThrownError,
	addMessages,
	createChannelNotOpenError,
	createWaitTimeoutError,
	addCallDetails,
} from '../../../nodes/Agent/AgentExecute/errors';
import { Turn } from '../../../nodes/Agent/AgentExecute/wait/turn';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import type { SessionMessage } from '../../../nodes/Agent/session/messages';
import { NodeError } from '../../../nodes/core/errors';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { quoteField } from '../../../nodes/fields/field';
import { BodyError } from '../../../nodes/http/body';
import { failureOf } from '../../createExecuteContext';
import { runExecute } from './executeRun';
import { type AttemptName, attempts } from '../../attempt';

const sanitizer = new Sanitizer();
const answered = (statusCode: number, headers = {}) =>
	convertFailedResponse({ statusCode, headers, body: Buffer.from('words') }, sanitizer);

test.each<[number, AttemptName, string, string]>([
	[301, 'final', 'The agent service responded with a redirect', 'the final address'],
	[303, 'unknown', 'The agent service responded with a redirect', 'Check the session'],
	[401, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[403, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[404, 'final', 'The agent service was not found at this address', 'Check the Deployment URL'],
	[408, 'unknown', 'The agent service reported an error', 'Check the session'],
	[418, 'final', 'The agent service rejected the call', 'The agent was not started.'],
	[429, 'notDone', 'The agent service is busy', 'Lower the option'],
	[500, 'unknown', 'The agent service reported an error', 'Check the session'],
	[503, 'unknown', 'The agent service reported an error', 'Check the session'],
	[504, 'unknown', 'The agent service reported an error', 'Check the session'],
])('status %d is %s, and says what happened and what to do', (code, kind, message, advice) => {
	const failure = answered(code);
	expect(failure).toMatchObject({ code, ...attempts[kind] });
	expect(failure.message).toMatch(new RegExp(`^${message}.*\\(${code}\\): words$`));
	expect(failure.description).toContain(advice);
	const mayBeStarted = failure.description?.includes('The service may have started the agent');
	expect(mayBeStarted).toBe(kind === 'unknown');
});

test('a response that is too large is not asked for again', () => {
	const failure = convertThrownError(new BodyError('tooLarge'), 'https://agent.example/execute');
	expect(failure).toMatchObject(attempts.finalUnknown);
	expect(failure.message).toBe("The agent service's response is larger than 64 MiB");
});

test('503 with Retry-After says that nothing was done', () => {
	const failure = answered(503, { 'retry-after': '3' });
	expect(failure).toMatchObject(attempts.notDone);
	expect(failure.description).toMatch(/^It did not start the agent\./);
	expect(failure.retryAfterMilliseconds).toBe(3000);
});

const certificates = path.join(__dirname, '../../../dev/agent-service/certificate');
const pem = (part: string) => readFileSync(path.join(certificates, `test-only.${part}.pem`));

test('what breaks an established TLS connection may have started the agent: nothing is sent again', async () => {
	let requests = 0;
	const ignore = () => undefined;
	const server = createServer((raw) => {
		raw.on('error', ignore);
		const secure = new TLSSocket(raw, { isServer: true, key: pem('key'), cert: pem('cert') });
		secure.on('error', ignore);
		secure.once('data', () => {
			requests++;
			raw.write('this is no record of TLS, it is far from being one');
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const api = { allowUnauthorizedCerts: true };
	const options = { api, executionId: url, node: { retryOnFail: true } };
	for (let tries = 0; tries < 2; tries++) {
		const failure = await failureOf(runExecute({ url, webSocketUrl: url }, options));
		expect(failure.message).toMatch(
			/^The connection to 127\.0\.0\.1:\d+ was lost before the service responded/,
		);
		expect(failure.description).toContain('The service may have started the agent.');
	}
	server.close();
	expect(requests).toBe(1);
});

function messageOf(message: unknown): SessionMessage {
	const place = { sessionId: 's', sequence: 1, receivedAt: '', heldBytes: 1 };
	return { ...place, format: 'json', message };
}

function turnOf(messages: readonly SessionMessage[]): Turn {
	const turn = new Turn({} as WaitSettings);
	turn.messages.push(...messages);
	return turn;
}

describe('what is kept of messages', () => {
	const keep = (messages: readonly SessionMessage[], sanitizer: Sanitizer) => {
		const failure = new NodeError({ code: 500, message: 'x' });
		const { details } = addMessages(failure, { turn: turnOf(messages), sanitizer });
		return (details?.messages as SessionMessage[]).map(({ message }) => message);
	};
	/** JSON of so many characters, quotes included. */
	const json = (length: number) => 'x'.repeat(length - 2);

	test('is the last ten, each whole with 4,000 characters, or its beginning', () => {
		const messages = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(messageOf);
		messages.push(messageOf(json(4000)), messageOf(json(4001)));
		const kept = keep(messages, sanitizer);
		expect(kept.slice(0, 9)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, json(4000)]);
		expect(kept.slice(9)).toEqual([expect.stringMatching(/^"x+…$/)]);
	});

	test('is a text where it is no JSON without its secrets', () => {
		const sanitizer = new Sanitizer(['12345678']);
		expect(keep([messageOf({ a: 12345678 })], sanitizer)).toEqual(['{"a":•••}']);
	});
});

test('of what the agent reports 500 characters are shown', () => {
	const shown = (message: unknown) =>
		createAgentFailureError(messageOf(message), 'text', sanitizer).description;
	expect(shown({ text: 'x'.repeat(500) })).toBe('x'.repeat(500));
	expect(shown({ text: 'x'.repeat(501) })).toBe(`${'x'.repeat(500)}…`);
	expect(shown({ reason: 7 })).toBe('{"reason":7}');
	expect(createAgentFailureError(undefined, 'text', sanitizer).description).toBe('null');
});

test('a failure is told with its session, and with the response if there is one', () => {
	const told = (description: string | undefined, response?: unknown) => {
		const failure = new NodeError({ code: 500, message: 'x', description });
		const about = { sessionId: 's1', sanitizer };
		const { description: text, details } = addCallDetails(failure, about, response);
		return [text, details];
	};
	const sessionId = 's1';
	const named = 'The session ID is s1.';
	expect(told('Look', { a: 1 })).toEqual([`Look. ${named}`, { sessionId, response: { a: 1 } }]);
	expect(told('Look!')).toEqual([`Look! ${named}`, { sessionId }]);
	expect(told(undefined, null)).toEqual([named, { sessionId, response: null }]);
});

const leftOut = `${quoteField('filterValue')} left out all messages that arrived.`;

test.each<[unknown[], boolean, string]>([
	[[], true, leftOut],
	[[], false, 'The agent was started.'],
	[['a'], true, 'The agent was started.'],
])(
	'a wait that is not over in time, with %j, a filter left out others: %j',
	(all, hasLeftOut, text) => {
		const turn = turnOf(all.map((one) => messageOf(one)));
		turn.hasLeftOut = hasLeftOut;
		const { description } = createWaitTimeoutError(9, turn);
		expect(description?.startsWith(text)).toBe(true);
	},
);

test('a channel that does not open names the option that may help', () => {
	const { code, message, description } = createChannelNotOpenError(20, undefined);
	expect([code, message]).toEqual([504, 'The session channel did not open within 20 s']);
	expect(description).toContain(quoteField('openChannel'));
});
