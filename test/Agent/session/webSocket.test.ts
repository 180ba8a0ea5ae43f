import http from 'node:http';

import { type AgentService, startAgentService } from '../../../dev/agent-service/server';
import { holdTime } from '../../heldTime';
import { turns } from '../../turns';
import { Tap, until } from './tap';

let service: AgentService;
const query = 'sessionId=s1&userPublicKey=p&signature=canary&timestamp=1&apiKey=test-api-key';
const address = () => `${service.webSocketUrl}/ws?${query}`;

beforeEach(async () => {
	service = await startAgentService();
});

afterEach(async () => {
	await service.close();
});

const openTap = async (request = {}) => {
	const tap = new Tap(address(), request);
	await tap.opened;
	return tap;
};

describe('a socket of ws', () => {
	it('offers no compression', async () => {
		const tap = await openTap();
		expect(service.upgrades[0]?.headers['sec-websocket-extensions']).toBeUndefined();
		tap.socket.terminate();
		await tap.closed;
	});

	it('connects by itself although n8n has replaced the global agent', async () => {
		const { globalAgent } = http;
		let used = 0;
		http.globalAgent = Object.assign(new http.Agent(), {
			addRequest() {
				used++;
			},
		});
		try {
			const tap = await openTap();
			tap.socket.terminate();
			await tap.closed;
			expect(used).toBe(0);
		} finally {
			http.globalAgent = globalAgent;
		}
	});

	it('reports the answer to a refused upgrade, then its end, and leaves no connection', async () => {
		service.scriptUpgrades({ status: 503, retryAfter: 7, body: 'x'.repeat(5000) });
		const tap = new Tap(address());
		await tap.closed;
		expect(tap.answer).toMatchObject({
			statusCode: 503,
			retryAfterMilliseconds: 7000,
		});
		expect(tap.answer?.body).toBe('x'.repeat(2048));
		expect(tap.endings).toHaveLength(1);
	});

	it('waits a second for the rest of an answer', async () => {
		const headers = { 'Content-Length': '500', Connection: 'keep-alive' };
		service.scriptUpgrades({ status: 401, headers });
		await holdTime(async (time) => {
			const tap = new Tap(address());
			await time.until(() => jest.getTimerCount() > 0);
			jest.advanceTimersByTime(999);
			expect(tap.answer).toBeUndefined();
			jest.advanceTimersByTime(1);
			await tap.closed;
			expect(tap.answer).toMatchObject({ statusCode: 401 });
			expect(jest.getTimerCount()).toBe(0);
		});
	});

	it('follows no redirect', async () => {
		service.scriptUpgrades({ status: 302, headers: { Location: address() } });
		const tap = new Tap(address());
		await tap.closed;
		expect(tap.answer).toMatchObject({ statusCode: 302 });
		expect(service.upgrades.length).toBe(1);
	});

	it.each([
		['reset', { kind: 'network', error: { errorCode: 'ECONNRESET' } }, 'ECONNRESET'],
		['wrongAcceptKey', { kind: 'network' }, 'Invalid Sec-WebSocket-Accept header'],
		['extension', { kind: 'network' }, 'Server sent a Sec-WebSocket-Extensions header'],
	] as const)('a handshake that ends in %s fails, then closes', async (fault, ending, text) => {
		service.scriptUpgrades({ fault });
		const tap = new Tap(address());
		await tap.closed;
		const message = expect.stringContaining(text) as string;
		expect(tap.endings).toMatchObject([{ ...ending, message }]);
	});

	it('once open, it can be used in every state without an exception', async () => {
		const tap = new Tap(address());
		const useAll = () => {
			tap.socket.send('x');
			tap.socket.ping();
			tap.socket.pause();
			tap.socket.resume();
			tap.socket.close(1000);
		};
		await tap.opened;
		useAll();
		useAll();
		await tap.closed;
		useAll();
		tap.socket.terminate();
		expect(tap.endings.length).toBe(1);
	});

	it('tells a close frame without a code from none', async () => {
		service.scriptUpgrades({ closeCode: 1005 }, { drop: 'end' }, { drop: 'reset' });
		for (const kind of ['closeFrame', 'dropped', 'dropped']) {
			const tap = new Tap(address());
			await tap.closed;
			expect(tap.endings).toMatchObject([{ kind }]);
		}
	});

	it('a message above the limit ends the channel, and the server is told why', async () => {
		const tap = await openTap();
		const maxBytes = 16 * 1024 * 1024;
		const [channel] = service.getChannels('s1');
		const seen = new Promise((resolve) => channel?.on('close', resolve));
		service.send('s1', 'a'.repeat(maxBytes), 'b'.repeat(maxBytes + 1), 'after');
		await tap.closed;
		expect(tap.messages.map(({ text }) => text.length)).toEqual([maxBytes]);
		expect(tap.endings).toEqual([{ kind: 'tooLarge' }]);
		expect(await seen).toBe(1009);
	});

	it('invalid UTF-8 in a text frame is an error with a code', async () => {
		const tap = await openTap();
		service.send('s1', { frame: Buffer.from([0xff]), isBinary: false });
		await tap.closed;
		const error = { errorCode: 'WS_ERR_INVALID_UTF8' };
		expect(tap.endings).toMatchObject([{ kind: 'network', error }]);
	});

	it('paused it sees neither messages nor pongs nor close frames; resumed it sees them all', async () => {
		const tap = await openTap();
		tap.socket.pause();
		tap.socket.ping();
		await until(() => service.pings.get('s1') === 1);
		service.send('s1', 'late');
		service.closeChannels(1001, 'bye');
		await new Promise((resolve) => setTimeout(resolve, 100));
		expect([tap.messages, tap.controls, tap.endings]).toEqual([[], [], []]);
		tap.socket.resume();
		await tap.closed;
		expect(tap.messages.map(({ text }) => text)).toEqual(['late']);
		expect(tap.controls).toEqual(['pong']);
		expect(tap.endings).toEqual([{ kind: 'closeFrame', code: 1001, reason: 'bye' }]);
	});

	it('paused and terminated it still delivers what it had read', async () => {
		const tap = await openTap();
		service.send('s1', 'first');
		await until(() => tap.messages.length === 1);
		tap.socket.pause();
		service.send('s1', 'second', 'third');
		await turns(50);
		tap.socket.terminate();
		await tap.closed;
		expect(tap.messages.map(({ text }) => text)).toEqual(['first', 'second', 'third']);
	});
});
