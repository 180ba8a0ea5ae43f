import fc from 'fast-check';

import type { CloseReason } from '../../../nodes/Agent/session/closeReason';
import { connect, type Connection } from '../../../nodes/Agent/session/connection';
import { buildConnectRequest } from '../../../nodes/Agent/session/connectRequest';
import { buildIdentity } from '../../../nodes/Agent/session/credentials';
import {
	ConnectRateLimiter,
	createReconnectPlanner,
	getConnectRateLimiter,
	type ReconnectPlanner,
} from '../../../nodes/Agent/session/reconnect';
import { FakeClock } from './fakeClock';
import { Account, canaries, credentialOf, signatureOf, standardOptions } from './fakeSession';
import { FakeNetwork, type FakeSocket } from './fakeSocket';

const dropped: CloseReason = { kind: 'dropped' };
const minutes = 60_000;
const almostOne = () => 1 - Number.EPSILON;
const status = (statusCode: number, retryAfterMilliseconds?: number): CloseReason => ({
	kind: 'response',
	response: { statusCode, retryAfterMilliseconds, body: '', isFromProxy: false },
});
const times = (count: number, closeReason: CloseReason) =>
	Array<CloseReason>(count).fill(closeReason);

/** A session whose channels end as the test says. */
class History {
	readonly clock = new FakeClock();
	readonly recovery: ReconnectPlanner;

	constructor(random: () => number = () => 0) {
		this.recovery = createReconnectPlanner(60, this.clock, random);
	}

	/** @returns the delays after each of them */
	end(...closeReasons: readonly CloseReason[]): number[] {
		return closeReasons.map(
			(closeReason) => this.recovery.planNextAttempt(closeReason).delayMilliseconds,
		);
	}

	/** A channel that was open for so long. @returns the delay after it */
	async live(
		milliseconds: number,
		bringsMessage: boolean,
		closeReason = dropped,
	): Promise<number> {
		this.recovery.recordOpen();
		if (bringsMessage) this.recovery.recordFrame();
		await this.clock.advance(milliseconds);
		return this.recovery.planNextAttempt(closeReason).delayMilliseconds;
	}
}

describe('the next attempt', () => {
	it('doubles the window from 1 s to the cap', () => {
		const longest = new History(almostOne).end(...times(9, dropped)).map((delay) => delay + 1);
		expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
		expect(new History().end(...times(9, dropped))).toEqual(Array(9).fill(0));
	});

	it.each<[CloseReason]>([
		[{ kind: 'tooLarge' }],
		[{ kind: 'closeFrame', code: 1009, reason: '' }],
	])('comes by the ramp after %j three times in a row', (tooLarge) => {
		expect(new History().end(...times(4, tooLarge))).toEqual([0, 0, 5000, 10_000]);
		const others = [...times(2, tooLarge), dropped, ...times(2, tooLarge)];
		expect(new History().end(...others)).toEqual([0, 0, 0, 0, 0]);
	});

	it('comes once at once after a refusal, then by a ramp from 10 s to 15 minutes', () => {
		const seconds = (random: () => number) =>
			new History(random)
				.end(...times(10, status(401)))
				.map((delay) => Math.ceil(delay / 1000));
		expect(seconds(almostOne)).toEqual([2, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
		expect(seconds(() => 0)).toEqual([1, 5, 10, 20, 40, 80, 160, 320, 450, 450]);
	});

	it('stays in the long backoff when something else comes', () => {
		expect(new History().end(status(401), status(401), dropped, dropped)).toEqual([
			1000, 5000, 10_000, 20_000,
		]);
	});

	it('knows of a refusal after the network failed in between', () => {
		expect(new History().end(status(401), dropped, status(401))).toEqual([1000, 0, 5000]);
	});

	it.each<[string, CloseReason]>([
		['a close code that says so', { kind: 'closeFrame', code: 1008, reason: '' }],
		['a mistake in the credentials', { kind: 'credentials', message: '', needsUser: true }],
	])('%s starts the long backoff at once', (_name, closeReason) => {
		const next = new History().recovery.planNextAttempt(closeReason);
		expect(next).toMatchObject({ decision: 'longBackoff', delayMilliseconds: 5000 });
	});

	it.each([
		[10_000, 10_000],
		[undefined, 0],
		[24 * 60 * minutes, 15 * minutes],
	])('waits at least the Retry-After of %p ms, at most 15 minutes', (asked, least) => {
		expect(new History().end(status(503, asked))).toEqual([least]);
		expect(new History(almostOne).end(status(503, asked))).toEqual([least + 999]);
	});

	it('is not sooner in the long backoff for a Retry-After', () => {
		const slow = () => {
			const history = new History();
			history.end(...times(6, status(302)), status(302));
			return history;
		};
		expect(slow().end(status(503, 1000))).toEqual([320_000]);
		expect(slow().end(status(503, 14 * minutes))).toEqual([14 * minutes]);
	});

	it('is never later than the cap and never sooner than what was asked for', () => {
		const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(fc.nat(100), fc.nat(2_000_000), unit, (waits, asked, drawn) => {
				const history = new History(() => drawn);
				history.end(...times(waits, dropped));
				const [delay = -1] = history.end(status(503, asked));
				const bound = Math.min(asked, 15 * minutes);
				return delay >= bound && delay <= bound + 60_000;
			}),
		);
	});
});

describe('a channel that was open', () => {
	/** The backoff has grown to 16 s. */
	const troubled = () => {
		const history = new History(almostOne);
		history.end(...times(4, dropped));
		return history;
	};

	it('for 5 s with a message ends the backoff, but neither a suspicion nor the long backoff', async () => {
		expect(await troubled().live(5000, true)).toBe(999);
		const refused = new History();
		refused.end(status(401));
		await refused.live(5000, true);
		expect(refused.end(status(401))).toEqual([5000]);
		const slow = new History();
		slow.end(status(302), status(302));
		expect(await slow.live(5000, true)).toBe(10_000);
	});

	it.each<[string, number, boolean]>([
		['for a shorter time', 4999, true],
		['without a message', 29_999, false],
	])('%s changes nothing', async (_name, lived, broughtMessage) => {
		expect(await troubled().live(lived, broughtMessage)).toBe(15_999);
	});

	it('for 30 s ends all of it', async () => {
		const history = new History();
		history.end(status(401), status(401));
		await history.live(30_000, false);
		expect(history.end(status(401), status(401))).toEqual([1000, 5000]);
	});

	it('for 30 s makes the next failure the first', async () => {
		const history = new History();
		const { recovery } = history;
		const isFirst = () => recovery.planNextAttempt(dropped).isFirstOfOutage;
		expect([isFirst(), isFirst()]).toEqual([true, false]);
		recovery.recordOpen();
		await history.clock.advance(30_000);
		expect(isFirst()).toBe(true);
	});

	it('for less changes nothing later on either', async () => {
		const history = troubled();
		await history.live(29_999, false);
		expect(history.clock.pending).toBe(0);
		await history.clock.advance(1);
		expect(history.end(dropped)).toEqual([31_999]);
	});
});

test.each([
	[true, 'refused'],
	[false, undefined],
])('credentials that could not be read and need the user: %s', (needsUser, alert) => {
	const { recovery } = new History();
	expect(recovery.planNextAttempt({ kind: 'credentials', message: '', needsUser }).alert).toBe(
		alert,
	);
});

test('an outage is told once, after 5 minutes', async () => {
	const { clock, recovery } = new History();
	const alerts = [recovery.planNextAttempt(dropped).alert];
	await clock.advance(5 * minutes - 1);
	alerts.push(recovery.planNextAttempt(dropped).alert);
	await clock.advance(1);
	for (let n = 0; n < 2; n++) alerts.push(recovery.planNextAttempt(dropped).alert);
	expect(alerts).toEqual([undefined, undefined, 'outage', undefined]);
});

/** @returns the delays of attempts that come at once */
const takePlaces = (rateLimiter: ConnectRateLimiter, clock: FakeClock, count: number) =>
	Array.from({ length: count }, () => rateLimiter.takePlace(clock));

test('lets five through at once, then one each 100 ms, in order', () => {
	const delays = takePlaces(new ConnectRateLimiter(), new FakeClock(), 8);
	expect(delays).toEqual([0, 0, 0, 0, 0, 100, 200, 300]);
});

test('the allowance grows back with time', async () => {
	const clock = new FakeClock();
	const rateLimiter = new ConnectRateLimiter();
	takePlaces(rateLimiter, clock, 5);
	await clock.advance(300);
	expect(takePlaces(rateLimiter, clock, 5)).toEqual([0, 0, 0, 100, 200]);
});

test('is one for all that go to the same service', () => {
	expect(getConnectRateLimiter('credential 1')).toBe(getConnectRateLimiter('credential 1'));
	expect(getConnectRateLimiter('credential 1')).not.toBe(getConnectRateLimiter('credential 2'));
});

/** Seeded: mulberry32. */
function seeded(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

/** 50 sessions of one node, with the server up and all channels open for a minute. */
class Node {
	readonly clock = new FakeClock();
	readonly network = new FakeNetwork();
	readonly attemptsAt: number[] = [];
	readonly connections: Connection[] = [];
	whileDown: (socket: FakeSocket) => void = (socket) => {
		socket.fail('ECONNREFUSED');
	};
	up = true;

	constructor(seed: number, sessions = 50) {
		const random = seeded(seed);
		const rateLimiter = new ConnectRateLimiter();
		this.network.onSocket = (socket) => {
			this.attemptsAt.push(this.clock.getMonotonicMilliseconds());
			if (!this.up) {
				this.whileDown(socket);
				return;
			}
			socket.onPing = () => {
				this.clock.callAfter(1, () => {
					if (this.up) socket.listener.onControlFrame('pong');
				});
			};
			socket.open();
		};
		for (let index = 0; index < sessions; index++) {
			const identity = () =>
				buildIdentity(
					signatureOf(canaries.signature),
					undefined,
					this.clock.getWallMilliseconds(),
				);
			const readConnectRequest = (sessionId: string) =>
				Promise.resolve(
					buildConnectRequest(sessionId, credentialOf('ws://agent.example'), identity()),
				);
			const { loadSocketOpener } = this.network;
			const log = new Account().logger;
			const environment = { clock: this.clock, log, random, loadSocketOpener, rateLimiter };
			const listener = { onFrame: () => {} };
			this.connections.push(
				connect(
					{ ...standardOptions, sessionId: `s${index}` },
					readConnectRequest,
					listener,
					environment,
				),
			);
		}
	}

	open(): number {
		return this.connections.filter((connection) => connection.getStatus().isOpen).length;
	}

	/** @returns how long it took until all channels were open, in milliseconds */
	async allBack(limit: number): Promise<number> {
		const from = this.clock.getMonotonicMilliseconds();
		while (this.open() < this.connections.length) {
			if (this.clock.getMonotonicMilliseconds() - from > limit)
				return Number.POSITIVE_INFINITY;
			await this.clock.advance(100);
		}
		return this.clock.getMonotonicMilliseconds() - from;
	}
}

/** The most attempts in any span of that length. */
function mostWithin(times: readonly number[], milliseconds: number): number {
	const sorted = [...times].sort((a, b) => a - b);
	let from = 0;
	let most = 0;
	for (const [to, time] of sorted.entries()) {
		while (time - (sorted[from] ?? 0) >= milliseconds) from++;
		most = Math.max(most, to - from + 1);
	}
	return most;
}

const downFor = [0, 5_000, 30_000, 120_000, 600_000];
const seeds = [1, 2, 3, 4, 5];
const cases = downFor.flatMap((down) => seeds.map((seed) => [down, seed] as const));

describe('50 sessions whose server restarts', () => {
	it.each(cases)(
		'after %i ms are all back within 90 s, at most 10 attempts in 100 ms (seed %i)',
		async (down, seed) => {
			const node = new Node(seed);
			await node.clock.advance(60_000);
			expect(node.open()).toBe(50);
			node.up = false;
			for (const socket of node.network.sockets) socket.end(1012);
			await node.clock.advance(down);
			node.up = true;
			expect(await node.allBack(90_000)).toBeLessThanOrEqual(90_000);
			expect(mostWithin(node.attemptsAt, 100)).toBeLessThanOrEqual(10);
			expect(node.network.live).toBe(50);
		},
	);

	it('behind a link that swallows everything are back within 90 s of its return', async () => {
		const node = new Node(7);
		await node.clock.advance(60_000);
		node.up = false;
		node.whileDown = () => {};
		await node.clock.advance(300_000);
		expect(node.open()).toBe(0);
		node.up = true;
		expect(await node.allBack(90_000)).toBeLessThanOrEqual(90_000);
		expect(mostWithin(node.attemptsAt, 100)).toBeLessThanOrEqual(10);
		expect(node.network.live).toBe(50);
	});

	it('and refuses them once at the same moment, come back spread', async () => {
		const node = new Node(8);
		await node.clock.advance(60_000);
		for (const socket of node.network.sockets) socket.end(4401);
		expect(await node.allBack(90_000)).toBeLessThanOrEqual(7000);
		expect(mostWithin(node.attemptsAt, 100)).toBeLessThanOrEqual(10);
	});

	it('are not held up by each other: one drop among 200 is back within a second, as is one of 1', async () => {
		const node = new Node(10, 200);
		await node.clock.advance(120_000);
		expect(node.open()).toBe(200);
		node.network.sockets[17]?.end(1012);
		expect(await node.allBack(90_000)).toBeLessThanOrEqual(1000);
	});

	it('of 200 at once are all back within 30 s, at the limited rate', async () => {
		const node = new Node(11, 200);
		await node.clock.advance(120_000);
		for (const socket of node.network.sockets) socket.end(1012);
		expect(await node.allBack(90_000)).toBeLessThanOrEqual(30_000);
		expect(mostWithin(node.attemptsAt, 100)).toBeLessThanOrEqual(10);
		expect(mostWithin(node.attemptsAt, 1000)).toBeLessThanOrEqual(15);
	});

	it('are all closed within 300 ms, without a timer or a socket', async () => {
		const node = new Node(9);
		await node.clock.advance(60_000);
		const closed = Promise.all(node.connections.map((connection) => connection.close()));
		await node.clock.advance(300);
		await closed;
		expect([node.clock.pending, node.network.live]).toEqual([0, 0]);
	});
});
