// The same fault of the network means the same for every node: what it says, whether the work was done, and how often it is tried.
import type { Socket } from 'node:net';
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

/**
 * `notDone`: surely not carried out, tried again; `unknown`: it may have been, so a change is not sent again; `final`: surely not
 * carried out, and another try would not help.
 */
type Kind = 'notDone' | 'unknown' | 'final';

interface Special {
	/** What a channel says of it, where that differs. */
	readonly channelSays?: RegExp;
	readonly options?: Given['options'];
	/** Where the options leave no room for another. */
	readonly onlyTry?: true;
	readonly none?: Partial<Record<NodeName, string>>;
}

interface FaultCase extends Special {
	readonly name: string;
	readonly make: () => Promise<Place>;
	readonly kind: Kind;
	/** HTTP status of the failure. */
	readonly code: string;
	/** In its message or description. */
	readonly says: RegExp;
}

const fault = (
	name: string,
	make: () => Promise<Place>,
	kind: Kind,
	code: number,
	says: RegExp,
	special: Special = {},
): FaultCase => ({ name, make, kind, code: `${code}`, says, ...special });

/** A status, which a channel tells by its number. */
const statusFault = (code: number, kind: Kind, says: RegExp, special: Special = {}) =>
	fault(`${code}`, status(code), kind, code, says, {
		channelSays: new RegExp(`with status ${code}`),
		...special,
	});

const noChannel = (why: string) => ({ 'its wait': why, 'Agent Session Trigger': why });
const untilItOpens = noChannel('a channel waits for as long as it takes');
const notRead = noChannel('what a server says in place of a channel is not read to its end');
const ofItsOwn = noChannel('the time for a channel to open is not the user’s to set');
const rightAnswer = noChannel('there it is the right answer');
const later = { 'retry-after': '5' };
const atOnce = { 'retry-after': '0' };
const asked =
	/asks n8n to wait 5 seconds, but 'Time Limits: Max Retry Wait \(Seconds\)' allows 1\./;
const byTimeAlone = 'how often a refusal for quota is repeated is bounded by time alone there';
const afterChange = 'of Google it may come after the change, Retry-After or not';
const noWait = /but 'Time Limits: Max Retry Wait \(Seconds\)' allows 0\./;
const wasReset = /the connection was reset/;
const wasCut = /response was cut off/;
const tooLate = /did not respond within 1 s\b/;
const inOneSecond = { timeoutSeconds: 1 };
const triedAgain = /Tried \d times|Another try would need a longer wait/;
const triedOrAsked = /Tried \d times|asks n8n to wait 2 seconds/;
const untrusted = /n8n does not know who issued the server's certificate/;

const notResolved = systemError('EAI_AGAIN', 'getaddrinfo');
const endBeforeTls = raw((socket) => socket.end(), 'https');
const silent = answering(() => undefined);
const once = (reply: string) => (socket: Socket) => {
	socket.once('data', () => socket.end(reply));
};
const noTls = once('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n';
const silentAfter101 = raw((socket) => {
	socket.once('data', () => socket.write(switching));
});
const resetAtOnce = answering(({ socket }) => {
	reset(socket);
});
const json = { 'content-type': 'application/json' };
const resetWithin = answering(({ socket }, response) => {
	response.writeHead(200, { ...json, 'content-length': '1000' });
	response.write('{"id":');
	setImmediate(() => {
		reset(socket);
	});
});
const halfGzip = answering((_request, response) => {
	const packed = gzipSync(JSON.stringify({ id: 'x'.repeat(100), text: 'y'.repeat(1000) }));
	response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
	response.end(packed.subarray(0, packed.length / 2));
});
const elsewhere = status(302, { location: 'http://127.0.0.1:9/elsewhere' });

const cases: FaultCase[] = [
	fault('ECONNREFUSED', closedPort, 'notDone', 503, /the connection was refused/),
	fault('EHOSTUNREACH', systemError('EHOSTUNREACH'), 'notDone', 503, /host cannot be reached/),
	fault('ENETUNREACH', systemError('ENETUNREACH'), 'notDone', 503, /network cannot be reached/),
	fault('ETIMEDOUT', systemError('ETIMEDOUT'), 'notDone', 503, /the server did not respond/),
	fault('ENOTFOUND', unknownName, 'notDone', 503, /the host name was not found/),
	fault('EAI_AGAIN', notResolved, 'notDone', 503, /the host name could not be resolved/),
	fault('an end before TLS stands', endBeforeTls, 'notDone', 503, wasReset),
	fault('ECONNRESET before TLS stands', raw(reset, 'https'), 'notDone', 503, wasReset),
	fault('ECONNRESET in place of an answer', resetAtOnce, 'unknown', 503, wasReset),
	fault('ECONNRESET within the answer', resetWithin, 'unknown', 502, wasCut, { none: notRead }),
	fault('gzip that ends in the middle', halfGzip, 'unknown', 502, wasCut, {
		none: { ...notRead, 'Agent Execute': 'it asks the service not to compress' },
	}),
	fault('no HTTP', raw(once('SSH-2.0-server\r\n')), 'unknown', 503, /was not valid HTTP/),
	fault(
		'TLS to a port without it',
		raw(noTls, 'https'),
		'final',
		503,
		/\(TLS\) connection failed/,
	),
	fault('a self-signed certificate', withCertificate, 'final', 503, untrusted),
	fault('no answer within Timeout (Seconds)', silent, 'unknown', 504, tooLate, {
		options: inOneSecond,
		none: ofItsOwn,
	}),
	fault('101, then neither an answer nor an error', silentAfter101, 'unknown', 504, tooLate, {
		options: inOneSecond,
		none: rightAnswer,
	}),
	fault('429', status(429, atOnce), 'notDone', 429, triedAgain, {
		channelSays: /with status 429/,
		none: { Workspace: byTimeAlone },
	}),
	fault('429, and no wait is allowed', status(429), 'notDone', 429, noWait, {
		...{ options: { maxRetryWaitSeconds: 0 }, onlyTry: true },
		none: untilItOpens,
	}),
	fault('429, and a longer wait than is allowed', status(429, later), 'notDone', 429, asked, {
		onlyTry: true,
		none: untilItOpens,
	}),
	statusFault(500, 'unknown', /500/),
	statusFault(503, 'unknown', /503/),
	fault('503 with Retry-After: 0', status(503, atOnce), 'notDone', 503, triedOrAsked, {
		channelSays: /with status 503/,
		none: { Workspace: afterChange },
	}),
	fault('503, and a longer wait than is allowed', status(503, later), 'notDone', 503, asked, {
		onlyTry: true,
		none: { ...untilItOpens, Workspace: afterChange },
	}),
	fault('a redirect', elsewhere, 'final', 302, /with a redirect/, {
		channelSays: /with status 302/,
	}),
	statusFault(400, 'final', /400/),
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
	const left = nodeNames.filter((name) => cases.every(({ none }) => none?.[name] !== undefined));
	expect(left).toEqual([]);
});
