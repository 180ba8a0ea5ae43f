import { once } from 'node:events';
import WebSocket from 'ws';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../dev/agent-service/server';

let service: AgentService;
const start = async (options: AgentServiceOptions = {}) => {
	service = await startAgentService(options);
};
beforeEach(() => start());
afterEach(() => service.close());

interface Peer {
	readonly socket: WebSocket;
	readonly messages: string[];
	readonly closed: Promise<number>;
}

function dial(sessionId = 's1', query: Record<string, string> = {}): Peer {
	const all = {
		sessionId,
		userPublicKey: '0x1',
		signature: '0x2',
		timestamp: '1767225600',
		apiKey: service.apiKey,
	};
	const search = new URLSearchParams({ ...all, ...query });
	const socket = new WebSocket(`${service.webSocketUrl}/ws?${search.toString()}`, {
		perMessageDeflate: false,
	});
	const messages: string[] = [];
	socket.on('message', (data) => messages.push((data as Buffer).toString()));
	socket.on('error', () => {
		// The tests look at `close`.
	});
	const closed = new Promise<number>((resolve) => socket.on('close', resolve));
	return { socket, messages, closed };
}

async function open(sessionId?: string): Promise<Peer> {
	const peer = dial(sessionId);
	await once(peer.socket, 'open');
	return peer;
}

const status = async (query: Record<string, string>) => {
	const { socket } = dial('s1', query);
	const [, response] = (await once(socket, 'unexpected-response')) as [
		unknown,
		{ statusCode: number },
	];
	socket.terminate();
	return response.statusCode;
};

const until = async (condition: () => boolean) => {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('opens channels, counts them and sends to their session only', async () => {
	const first = await open();
	const other = await open('s2');
	expect([service.countOpenChannels(), service.countOpenChannels('s1')]).toEqual([2, 1]);
	expect(service.send('s1', 'text', { a: 1 }, Buffer.from('bin'))).toBe(1);
	await until(() => first.messages.length === 3);
	expect(first.messages).toEqual(['text', '{"a":1}', 'bin']);
	expect(other.messages).toEqual([]);
	expect(service.upgrades[0]).toMatchObject({
		path: '/ws',
		query: { sessionId: 's1', timestamp: '1767225600' },
	});
	first.socket.close();
	await until(() => service.countOpenChannels() === 1);
});

test('refuses a wrong key and missing parameters', async () => {
	expect(await status({ apiKey: 'wrong' })).toBe(401);
	expect(await status({ signature: '' })).toBe(400);
	expect(await status({ timestamp: 'now' })).toBe(400);
});

test('streams messages after an execute call', async () => {
	const peer = await open();
	const body = {
		sessionId: 's1',
		userId: 'u',
		userPublicKey: 'k',
		initialPayload: '{"task":"t","input":"i"}',
	};
	await fetch(`${service.url}/execute`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', 'x-api-key': service.apiKey },
		body: JSON.stringify({
			...body,
			startStepName: 'start',
			signature: 's',
			timestamp: 1_767_225_600_000,
		}),
	});
	await until(() => peer.messages.length === 3);
	expect(peer.messages.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual([
		'step',
		'answer',
		'done',
	]);
});

test('plays refusals, closings and drops', async () => {
	service.scriptUpgrades(
		{ status: 503, retryAfter: 3 },
		{ closeCode: 4401, closeReason: 'no' },
		{ drop: 'reset' },
	);
	expect(await status({})).toBe(503);
	expect(await dial().closed).toBe(4401);
	expect(await dial().closed).toBe(1006);
});

test.each(['reset', 'wrongAcceptKey'] as const)('opens no channel with %s', async (fault) => {
	service.scriptUpgrades({ fault });
	expect(await dial().closed).toBe(1006);
	expect(service.countOpenChannels()).toBe(0);
});

test.each(['silence', 'trickle'] as const)('keeps its peer waiting with %s', async (fault) => {
	service.scriptUpgrades({ fault });
	const peer = dial();
	await until(() => service.upgrades.length === 1);
	expect(peer.socket.readyState).toBe(WebSocket.CONNECTING);
	peer.socket.terminate();
	expect(await peer.closed).toBe(1006);
});

test('does not answer pings when told so, and storms', async () => {
	service.scriptUpgrades({ noPong: true, pings: 50 });
	const { socket } = dial();
	let pings = 0;
	let pongs = 0;
	socket.on('ping', () => pings++);
	socket.on('pong', () => pongs++);
	await once(socket, 'open');
	socket.ping();
	await until(() => service.pings.get('s1') === 1 && pings === 50);
	expect(pongs).toBe(0);
	socket.terminate();
});

test('sends a text frame that is no text', async () => {
	const { socket, closed } = dial();
	const failure = new Promise<Error>((resolve) => socket.on('error', resolve));
	await once(socket, 'open');
	service.send('s1', { frame: Buffer.from([0xff]), isBinary: false });
	expect(await failure).toMatchObject({ code: 'WS_ERR_INVALID_UTF8' });
	expect(await closed).toBe(1006);
});

test('replays the last messages, and lets a session have one channel', async () => {
	await service.close();
	await start({ replay: 2, kickCode: 4409 });
	service.send('s1', 'a', 'b', 'c');
	const first = await open();
	await until(() => first.messages.length === 2);
	expect(first.messages).toEqual(['b', 'c']);
	await open();
	expect(await first.closed).toBe(4409);
	expect(service.countOpenChannels()).toBe(1);
});

test('writes down what it is sent, and closes or drops on demand', async () => {
	const first = await open();
	first.socket.send('hello');
	await until(() => service.received.length === 1);
	expect(service.received[0]).toMatchObject({
		sessionId: 's1',
		data: Buffer.from('hello'),
		isBinary: false,
	});
	service.closeChannels(1012);
	expect(await first.closed).toBe(1012);
	const second = await open();
	service.dropChannels();
	expect(await second.closed).toBe(1006);
});

test('gives its port free, for another one in its place', async () => {
	const peer = await open();
	const { port } = service;
	await service.close();
	await service.close();
	expect(await peer.closed).toBe(1006);
	await start({ port });
	await open();
});
