// The same fault of the network means the same for every node: what it says, whether the work was done, and how often it is tried.
import { gzipSync } from 'node:zlib';

import { failureOf } from '../createExecuteContext';
import {
	answering,
	closedPort,
	type Place,
	raw,
	reset,
	status,
	systemError,
	unknownName,
	withCertificate,
} from './faultyPlaces';
import { type Given, type NodeName, nodeNames, Nodes } from './nodes';

const nodes = new Nodes();

interface FaultCase {
	readonly name: string;
	readonly make: () => Promise<Place>;
	/**
	 * `notDone`: surely not carried out, tried again; `unknown`: it may have been, so a change is not sent again; `final`: surely not
	 * carried out, and another try would not help.
	 */
	readonly kind: 'notDone' | 'unknown' | 'final';
	/** HTTP status of the failure. */
	readonly code: string;
	/** In its message or description. */
	readonly says: RegExp;
	/** What a channel says of it, where that differs. */
	readonly channelSays?: RegExp;
	readonly options?: Given['options'];
	/** Where the options leave no room for another. */
	readonly onlyTry?: true;
	readonly none?: Partial<Record<NodeName, string>>;
}

const noChannel = (why: string) => ({ 'its wait': why, 'Agent Session Trigger': why });
const later = { 'retry-after': '5' };
const asked = /asks n8n to wait 5 seconds, but 'Max Retry Wait \(Seconds\)' allows 1\./;
const byTimeAlone = 'how often a refusal for quota is repeated is bounded by time alone there';

const cases: FaultCase[] = [
	{
		name: 'ECONNREFUSED',
		make: closedPort,
		kind: 'notDone',
		code: '503',
		says: /the connection was refused/,
	},
	{
		name: 'EHOSTUNREACH',
		make: systemError('EHOSTUNREACH'),
		kind: 'notDone',
		code: '503',
		says: /the host cannot be reached/,
	},
	{
		name: 'ENETUNREACH',
		make: systemError('ENETUNREACH'),
		kind: 'notDone',
		code: '503',
		says: /the network cannot be reached/,
	},
	{
		name: 'ETIMEDOUT while connecting',
		make: systemError('ETIMEDOUT'),
		kind: 'notDone',
		code: '503',
		says: /the server did not respond/,
	},
	{
		name: 'ENOTFOUND',
		make: unknownName,
		kind: 'notDone',
		code: '503',
		says: /the host name was not found/,
	},
	{
		name: 'EAI_AGAIN',
		make: systemError('EAI_AGAIN', 'getaddrinfo'),
		kind: 'notDone',
		code: '503',
		says: /the host name could not be resolved/,
	},
	{
		name: 'a connection that ends before TLS stands',
		make: raw((socket) => socket.end(), 'https'),
		kind: 'notDone',
		code: '503',
		says: /the connection was reset/,
	},
	{
		name: 'ECONNRESET before TLS stands',
		make: raw(reset, 'https'),
		kind: 'notDone',
		code: '503',
		says: /the connection was reset/,
	},
	{
		name: 'ECONNRESET in place of an answer',
		make: answering(({ socket }) => {
			reset(socket);
		}),
		kind: 'unknown',
		code: '503',
		says: /the connection was reset/,
	},
	{
		name: 'ECONNRESET within the answer',
		make: answering(({ socket }, response) => {
			response.writeHead(200, {
				'content-type': 'application/json',
				'content-length': '1000',
			});
			response.write('{"id":');
			setImmediate(() => {
				reset(socket);
			});
		}),
		kind: 'unknown',
		code: '502',
		says: /response was cut off/,
		none: noChannel('what a server says in place of a channel is not read to its end'),
	},
	{
		name: 'gzip that ends in the middle',
		make: answering((_request, response) => {
			const packed = gzipSync(
				JSON.stringify({ id: 'x'.repeat(100), text: 'y'.repeat(1000) }),
			);
			const half = packed.subarray(0, packed.length / 2);
			response.writeHead(200, {
				'content-type': 'application/json',
				'content-encoding': 'gzip',
			});
			response.end(half);
		}),
		kind: 'unknown',
		code: '502',
		says: /response was cut off/,
		none: {
			...noChannel('what a server says in place of a channel is not read to its end'),
			'Agent Execute': 'it asks the service not to compress',
		},
	},
	{
		name: 'an answer that is not HTTP',
		make: raw((socket) => {
			socket.once('data', () => socket.end('SSH-2.0-server\r\n'));
		}),
		kind: 'unknown',
		code: '503',
		says: /the response was not valid HTTP/,
	},
	{
		name: 'TLS to a port without it',
		make: raw((socket) => {
			socket.once('data', () =>
				socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
			);
		}, 'https'),
		kind: 'final',
		code: '503',
		says: /the secure \(TLS\) connection failed/,
	},
	{
		name: 'a self-signed certificate',
		make: withCertificate,
		kind: 'final',
		code: '503',
		says: /n8n does not know who issued the server's certificate/,
	},
	{
		name: 'no answer within Timeout (Seconds)',
		make: answering(() => undefined),
		kind: 'unknown',
		code: '504',
		options: { timeoutSeconds: 1 },
		says: /did not respond within 1 s\b/,
		none: noChannel('the time for a channel to open is not the user’s to set'),
	},
	{
		name: '101, after which neither an answer nor an error comes',
		make: raw((socket) => {
			socket.once('data', () =>
				socket.write(
					'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
				),
			);
		}),
		kind: 'unknown',
		code: '504',
		options: { timeoutSeconds: 1 },
		says: /did not respond within 1 s\b/,
		none: noChannel('there it is the right answer'),
	},
	{
		name: '429',
		make: status(429, { 'retry-after': '0' }),
		kind: 'notDone',
		code: '429',
		says: /Tried \d times|Another try would need a longer wait/,
		channelSays: /with status 429/,
		none: { Workspace: byTimeAlone },
	},
	{
		name: '429, and no wait is allowed',
		make: status(429),
		kind: 'notDone',
		code: '429',
		options: { maxRetryWaitSeconds: 0 },
		onlyTry: true,
		says: /but 'Max Retry Wait \(Seconds\)' allows 0\./,
		none: noChannel('a channel waits for as long as it takes'),
	},
	{
		name: '429, and a longer wait than is allowed',
		make: status(429, later),
		kind: 'notDone',
		code: '429',
		onlyTry: true,
		says: asked,
		none: noChannel('a channel waits for as long as it takes'),
	},
	{
		name: '500',
		make: status(500),
		kind: 'unknown',
		code: '500',
		says: /500/,
		channelSays: /with status 500/,
	},
	{
		name: '503',
		make: status(503),
		kind: 'unknown',
		code: '503',
		says: /503/,
		channelSays: /with status 503/,
	},
	{
		name: '503 with Retry-After: 0',
		make: status(503, { 'retry-after': '0' }),
		kind: 'notDone',
		code: '503',
		says: /Tried \d times|asks n8n to wait 2 seconds/,
		channelSays: /with status 503/,
		none: { Workspace: 'of Google it may come after the change, Retry-After or not' },
	},
	{
		name: '503, and a longer wait than is allowed',
		make: status(503, later),
		kind: 'notDone',
		code: '503',
		onlyTry: true,
		says: asked,
		none: {
			...noChannel('a channel waits for as long as it takes'),
			Workspace: 'of Google it may come after the change, Retry-After or not',
		},
	},
	{
		name: 'a redirect',
		make: status(302, { location: 'http://127.0.0.1:9/elsewhere' }),
		kind: 'final',
		code: '302',
		says: /with a redirect/,
		channelSays: /with status 302/,
	},
	{
		name: '400',
		make: status(400),
		kind: 'final',
		code: '400',
		says: /400/,
		channelSays: /with status 400/,
	},
];

let executions = 0;
beforeEach(() => {
	executions++;
	// The shortest waits that there are.
	jest.spyOn(Math, 'random').mockReturnValue(0.001);
});
afterEach(() => {
	jest.restoreAllMocks();
});

const given = ({ options }: FaultCase, place?: Place): Given => ({
	url: place?.url,
	options: { timeLimits: { limits: { maxRetryWaitSeconds: 1, ...options } } },
	// As n8n runs a node a second time.
	node: { retryOnFail: true },
	executionId: `fault ${executions}`,
});

describe.each(cases)('$name', (fault) => {
	const applies = (name: NodeName) => fault.none?.[name] === undefined;

	for (const name of (['Agent Execute', 'Workspace'] as const).filter(applies)) {
		test(`for a change of ${name}`, async () => {
			await expectFailure(fault, name, fault.kind === 'notDone');
			// Another try of the node begins it anew only where it surely was not done.
			const before = nodes.calls;
			const again = nodes.run(name, given(fault));
			if (fault.kind === 'unknown')
				expect((await failureOf(again)).httpCode).toBe(fault.code);
			else await again;
			expect(nodes.calls - before).toBe(fault.kind === 'unknown' ? 0 : 1);
		});
	}

	// It does no harm twice: another rule than that of a change, with the same words.
	if (fault.none?.Workspace !== byTimeAlone) {
		test('for a read of Workspace', async () => {
			const parameters = { resource: 'document', operation: 'read' };
			await expectFailure(fault, 'Workspace', fault.kind !== 'final', parameters);
		});
	}

	for (const name of (['its wait', 'Agent Session Trigger'] as const).filter(applies)) {
		test(`for the channel of ${name}`, async () => {
			const place = await fault.make();
			const before = nodes.calls;
			try {
				const lines = await nodes.linesOf(name, given(fault, place));
				expect(lines.join('\n')).toMatch(fault.channelSays ?? fault.says);
				expect(place.attempts()).toBeGreaterThanOrEqual(1);
			} finally {
				await place.close();
			}
			// Nothing is sent without an open channel.
			expect(nodes.calls).toBe(before);
		});
	}
});

async function expectFailure(
	fault: FaultCase,
	name: NodeName,
	mayRepeat: boolean,
	parameters?: Given['parameters'],
): Promise<void> {
	const place = await fault.make();
	try {
		const running = nodes.run(name, { ...given(fault, place), parameters });
		const { message, description, httpCode } = await failureOf(running);
		expect(`${message} ${String(description)}`).toMatch(fault.says);
		expect(httpCode).toBe(fault.code);
		const isRepeated = mayRepeat && !fault.onlyTry;
		// On a busy machine its time may be over before the request has come.
		if (fault.code !== '504') expect(place.attempts() > 1).toBe(isRepeated);
		if (!isRepeated) expect(place.attempts()).toBeLessThanOrEqual(1);
	} finally {
		await place.close();
	}
}

test('every node has its share of the table', () => {
	expect(
		nodeNames.filter((name) => cases.every(({ none }) => none?.[name] !== undefined)),
	).toEqual([]);
});
