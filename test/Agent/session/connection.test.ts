import { ExpressionError } from 'n8n-workflow';

import { createHeartbeat, type Heartbeat } from '../../../nodes/Agent/session/heartbeat';
import { FakeClock } from './fakeClock';
import { FakeSession } from './fakeSession';
import type { FakeSocket } from './fakeSocket';

const isDown = (socket: FakeSocket) => {
	socket.fail('ECONNREFUSED');
};
const opens = (socket: FakeSocket) => {
	socket.open();
};
const refuses = (socket: FakeSocket) => {
	socket.refuse(401);
};

const delaysOf = ({ account }: FakeSession) =>
	account.ended.map(({ delayMilliseconds }) => delayMilliseconds);
const endsOf = ({ account }: FakeSession) =>
	account.ended.map(({ closeReason }) => closeReason.kind);

describe('reconnecting', () => {
	it('starts anew after 5 s with a message, not when the channel opens, nor with its first message', async () => {
		const session = await new FakeSession({ heartbeatSeconds: 0 }).opened();
		session.network.onSocket = (socket) => {
			socket.open();
			socket.text('hello');
		};
		for (const wait of [500, 1000, 2000, 4000, 8000]) {
			session.network.last.end(1000);
			await session.clock.advance(wait);
		}
		expect(delaysOf(session)).toEqual([500, 1000, 2000, 4000, 8000]);
		await session.clock.advance(5000);
		session.network.last.end(1000);
		expect(delaysOf(session).at(-1)).toBe(500);
	});

	it('ignores a socket that opens after the 15 s of its attempt', async () => {
		const session = new FakeSession();
		await session.clock.advance(15_000);
		expect(session.network.last.terminated).toBe(true);
		session.network.last.open();
		expect(session.connection.getStatus().isOpen).toBe(false);
	});

	it('drops credentials that were read too late', async () => {
		const session = new FakeSession();
		let give = () => {};
		session.onRead = () => new Promise((resolve) => (give = resolve));
		await session.clock.advance(14_999);
		expect(session.account.ended).toEqual([]);
		await session.clock.advance(1);
		expect(session.account.ended).toMatchObject([{ closeReason: { kind: 'connectTimeout' } }]);
		give();
		session.onRead = () => Promise.resolve();
		await session.clock.advance(0);
		expect(session.network.sockets).toEqual([]);
		await session.clock.advance(1000);
		expect(session.network.sockets.length).toBe(1);
	});

	it('notices within 45 s that the server died, and counts the gap from its last sign of life', async () => {
		const session = await new FakeSession().opened();
		session.network.last.onPing = () => {
			session.network.last.listener.onControlFrame('pong');
		};
		session.network.last.listener.onControlFrame('pong');
		await session.clock.advance(60_000);
		session.network.last.onPing = () => {};
		session.network.onSocket = opens;
		await session.clock.advance(45_500);
		expect(endsOf(session)).toEqual(['silent']);
		session.network.last.text('back');
		expect(session.account.messages[0]?.gapMs).toBe(45_500);
	});

	it.each([false, true])(
		'does not take a new channel that never answers a ping for dead (opened while paused: %s)',
		async (isPaused) => {
			const session = await new FakeSession().opened();
			session.network.last.listener.onControlFrame('pong');
			session.network.onSocket = opens;
			if (isPaused) session.connection.pause();
			session.network.last.end();
			await session.clock.advance(1000);
			session.connection.resume();
			await session.clock.advance(600_000);
			expect(endsOf(session)).toEqual(['dropped']);
			expect(session.network.last.pings).toBeGreaterThan(1);
		},
	);

	it('takes a new channel that never answers a text ping for dead, once an earlier one did', async () => {
		const session = await new FakeSession({ pingText: 'ping' }).opened();
		await session.clock.advance(25_000);
		session.network.last.text('pong');
		session.network.onSocket = opens;
		session.network.last.end();
		await session.clock.advance(60_000);
		expect(endsOf(session)).toEqual(['dropped', 'silent']);
	});

	it('marks no gap before the first channel', async () => {
		const session = new FakeSession();
		session.network.onSocket = isDown;
		await session.clock.advance(5000);
		session.network.onSocket = opens;
		await session.clock.advance(60_000);
		session.network.last.text('1');
		expect(session.account.messages.map(({ gapMs }) => gapMs)).toEqual([undefined]);
	});

	it('sums up the gaps that no message has told of', async () => {
		const session = await new FakeSession().opened();
		for (const wait of [500, 1000]) {
			session.network.last.end();
			await session.clock.advance(wait);
			session.network.last.open();
		}
		session.network.last.text('1');
		expect(session.account.messages[0]?.gapMs).toBe(1500);
	});

	it.each([
		['pings', {}, 2, []],
		['text pings', { pingText: 'are you there' }, 0, ['are you there', 'are you there']],
		['nothing', { heartbeatSeconds: 0 }, 0, []],
	])('sends %s', async (_name, options, pings, sent) => {
		const session = await new FakeSession(options).opened();
		await session.clock.advance(pings === 0 ? 50_000 : 25_000);
		expect([session.network.last.pings, session.network.last.sent]).toEqual([pings, sent]);
	});
});

describe('a session', () => {
	it('sends the initial message each time the channel opens', async () => {
		const session = await new FakeSession({ initialMessage: 'hello' }).opened();
		expect(session.network.last.sent).toEqual(['hello']);
		session.network.last.end();
		await session.clock.advance(1000);
		session.network.last.open();
		expect(session.network.sockets.map(({ sent }) => sent)).toEqual([['hello'], ['hello']]);
	});
});

it('a listener that throws changes nothing, and its text is not logged', async () => {
	const session = await new FakeSession().opened();
	session.account.listener.onFrame = (message) => {
		throw new TypeError(`canary of a message ${JSON.stringify(message)}`);
	};
	session.network.last.text('{"canary":1}');
	session.network.last.text('2');
	expect(session.connection.getStatus().isOpen).toBe(true);
	expect(session.account.log.join()).toContain('TypeError');
	expect(session.account.log.join()).not.toContain('canary');
});

describe('a refusal', () => {
	it('that comes again leaves the long backoff, which never stops, and one alert', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.refuse(403, undefined, 'no, never');
		};
		await session.clock.advance(10_000);
		expect(session.account.alerts).toHaveLength(1);
		await session.clock.advance(24 * 3_600_000);
		expect(session.connection.getStatus()).toMatchObject({
			isOpen: false,
			lastFailure: { code: 403, status: 'PERMISSION_DENIED' },
		});
		expect(session.network.sockets.length).toBeGreaterThan(24 * 4);
		expect(session.network.sockets.length).toBeLessThan(24 * 8 + 10);
		expect(session.account.alerts).toHaveLength(1);
		expect(session.account.alerts[0]?.description).toContain('The response: no, never');
	});

	it('by a mistake in the credentials is alerted at once', async () => {
		const session = new FakeSession();
		session.onRead = () => Promise.reject(new ExpressionError('access to env vars denied'));
		await session.clock.advance(0);
		expect(session.account.ended.at(-1)?.decision).toBe('longBackoff');
		expect(session.account.alerts).toHaveLength(1);
		const [failure] = session.account.alerts;
		expect(failure?.message).toBe(
			'The channel of session s1 is not open: the credentials could not be read: access to env vars denied',
		);
		expect(failure?.description).toContain('N8N_BLOCK_ENV_ACCESS_IN_NODE');
	});

	it('ends with a channel that stays; the next one is alerted again', async () => {
		const session = new FakeSession({ heartbeatSeconds: 0 });
		session.network.onSocket = refuses;
		await session.clock.advance(30_000);
		expect(session.account.ended.at(-1)?.decision).toBe('longBackoff');
		session.network.onSocket = opens;
		await session.clock.advance(15 * 60_000);
		expect(session.connection.getStatus().isOpen).toBe(true);
		await session.clock.advance(30_000);
		session.network.onSocket = refuses;
		session.network.last.end();
		await session.clock.advance(500);
		expect(session.account.ended.at(-1)?.decision).toBe('freshCredentials');
		await session.clock.advance(10_000);
		expect(session.account.alerts).toHaveLength(2);
	});
});

describe('an outage', () => {
	it('is not over with a message of a channel that does not stay', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.open();
			socket.text('{"type":"hello"}');
			socket.end(1000);
		};
		await session.clock.advance(40_000);
		expect(session.network.sockets.length).toBeLessThan(10);
		await session.clock.advance(5 * 60_000);
		expect(session.account.alerts).toHaveLength(1);
		expect(session.account.alerts[0]?.message).toContain('session s1');
	});

	it('is one warning in the log, details, and one recovery', async () => {
		const session = await new FakeSession().opened();
		session.network.onSocket = isDown;
		session.network.last.end();
		await session.clock.advance(3000);
		session.network.onSocket = opens;
		await session.clock.advance(10_000);
		const { log } = session.account;
		const levels = log.map((line) => line.split(' ')[0]);
		expect(levels).toEqual(['warn', 'debug', 'debug', 'info']);
		const seconds = log.map((line) => / in (\d+) s$/.exec(line)?.[1]);
		expect(seconds).toEqual(['1', '1', '2', undefined]);
	});
});

const usual = { heartbeatSeconds: 25, pingText: '' };

function watch(settings = usual, answers = true) {
	const clock = new FakeClock();
	const seen = { pings: [] as number[], deadAt: undefined as number | undefined, answers };
	const sendPing = () => {
		seen.pings.push(clock.getMonotonicMilliseconds());
		if (seen.answers)
			clock.callAfter(10, () => {
				heartbeat.recordFrame(settings.pingText === '' ? 'pong' : 'message');
			});
	};
	const heartbeat: Heartbeat = createHeartbeat(settings, clock, sendPing, () => {
		seen.deadAt = clock.getMonotonicMilliseconds();
	});
	heartbeat.start();
	return { clock, heartbeat, seen };
}

describe('Heartbeat', () => {
	it.each([1, 10_000, 24_999, 25_000, 26_000, 44_000])(
		'notices within 45 s that the peer died at %i ms',
		async (diesAt) => {
			const { clock, seen } = watch();
			await clock.advance(diesAt);
			seen.answers = false;
			await clock.advance(200_000);
			expect(seen.deadAt).toBeDefined();
			expect((seen.deadAt ?? 0) - diesAt).toBeLessThanOrEqual(45_000);
		},
	);

	it.each(['ping', 'message'] as const)('takes a %s of the server as life', async (kind) => {
		const { clock, heartbeat, seen } = watch();
		await clock.advance(1000);
		seen.answers = false;
		for (let second = 0; second < 300; second += 15) {
			heartbeat.recordFrame(kind);
			await clock.advance(15_000);
		}
		expect(seen.deadAt).toBeUndefined();
	});

	it('counts a pong that comes after other frames', async () => {
		const { clock, heartbeat, seen } = watch();
		heartbeat.recordFrame('message');
		await clock.advance(1000);
		seen.answers = false;
		await clock.advance(200_000);
		expect(seen.deadAt).toBe(45_000);
	});

	it('never ends a link whose server has not answered a single ping', async () => {
		const { clock, heartbeat, seen } = watch(usual, false);
		for (let minute = 0; minute < 60; minute++) {
			if (minute % 10 === 0) heartbeat.recordFrame('message');
			await clock.advance(60_000);
		}
		expect(seen.deadAt).toBeUndefined();
		expect(seen.pings.length).toBeGreaterThan(100);
	});

	it('a text ping waits for the first interval; a message after it is its answer', async () => {
		const { clock, seen } = watch({ ...usual, pingText: 'ping' });
		await clock.advance(60_000);
		expect(seen.pings).toEqual([25_000, 50_000]);
		seen.answers = false;
		await clock.advance(45_000);
		expect(seen.deadAt).toBe(95_000);
	});

	it('messages that came by themselves do not make a text ping answered', async () => {
		const { clock, heartbeat, seen } = watch({ ...usual, pingText: 'ping' }, false);
		await clock.advance(10_000);
		heartbeat.recordFrame('message');
		await clock.advance(1_000_000);
		expect(seen.deadAt).toBeUndefined();
	});

	it('counts nothing while stopped, and pings at once afterwards', async () => {
		const { clock, heartbeat, seen } = watch();
		await clock.advance(1000);
		heartbeat.stop();
		await clock.advance(500_000);
		expect([seen.pings, clock.pending, seen.deadAt]).toEqual([[0], 0, undefined]);
		heartbeat.start();
		expect(seen.pings).toEqual([0, 501_000]);
		seen.answers = false;
		await clock.advance(20_010);
		expect(seen.deadAt).toBeUndefined();
	});
});
