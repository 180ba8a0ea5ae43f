import fc from 'fast-check';

import type { CloseReason } from '../../../nodes/Agent/session/closeReason';
import { connect, type Connection } from '../../../nodes/Agent/session/connection';
import {
	ConnectRateLimiter,
	createReconnectPlanner,
	getConnectRateLimiter,
	type ReconnectPlanner,
} from '../../../nodes/Agent/session/reconnect';
import { Seeded } from '../../faults/seeded';
import { FakeClock } from './fakeClock';
import { Account, requestTo, standardOptions } from './fakeSession';
import { FakeNetwork, type FakeSocket } from './fakeSocket';

const dropped: CloseReason = { kind: 'dropped' };
const minutes = 60_000;
const almostOne = () => 1 - Number.EPSILON;
const status = (statusCode: number, retryAfterMilliseconds?: number): CloseReason => ({
	kind: 'response',
	response: { statusCode, retryAfterMilliseconds, body: '' },
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
	async live(milliseconds: number, bringsMessage: boolean): Promise<number> {
		this.recovery.recordOpen();
		if (bringsMessage) this.recovery.recordFrame();
		await this.clock.advance(milliseconds);
		return this.recovery.planNextAttempt(dropped).delayMilliseconds;
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
});

test('an outage is told once, after 5 minutes', async () => {
	const { clock, recovery } = new History();
	const alerts = [recovery.planNextAttempt(dropped).mustAlert];
	await clock.advance(5 * minutes - 1);
	alerts.push(recovery.planNextAttempt(dropped).mustAlert);
	await clock.advance(1);
	for (let n = 0; n < 2; n++) alerts.push(recovery.planNextAttempt(dropped).mustAlert);
	expect(alerts).toEqual([false, false, true, false]);
});

test('a refusal is told, too, if the outage has been told', async () => {
	const { clock, recovery } = new History();
	recovery.planNextAttempt(dropped);
	await clock.advance(5 * minutes);
	expect(recovery.planNextAttempt(dropped).mustAlert).toBe(true);
	const refusals = times(4, status(401)).map((reason) => recovery.planNextAttempt(reason));
	expect(refusals.filter(({ mustAlert }) => mustAlert)).toHaveLength(1);
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

/** The sessions of one node. */
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
		const random = new Seeded(seed);
		const readConnectRequest = (sessionId: string) =>
			Promise.resolve(requestTo('ws://agent.example', sessionId));
		const environment = {
			clock: this.clock,
			log: new Account().logger,
			random: () => random.next(),
			loadSocketOpener: this.network.loadSocketOpener,
			rateLimiter: new ConnectRateLimiter(),
		};
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
			const options = { ...standardOptions, sessionId: `s${index}` };
			const listener = { onFrame: () => {} };
			this.connections.push(connect(options, readConnectRequest, listener, environment));
		}
	}

	open(): number {
		return this.connections.filter((connection) => connection.getStatus().isOpen).length;
	}

	/** Until all channels are open for two minutes. */
	async opened(): Promise<this> {
		await this.clock.advance(120_000);
		expect(this.open()).toBe(this.connections.length);
		return this;
	}

	/** Expects that all channels are open within this time, one each, after few attempts at once. */
	async comesBack(milliseconds: number): Promise<void> {
		const limit = this.clock.getMonotonicMilliseconds() + milliseconds;
		while (this.open() < this.connections.length) {
			await this.clock.advance(100);
			expect(this.clock.getMonotonicMilliseconds()).toBeLessThanOrEqual(limit);
		}
		expect(this.mostWithin(100)).toBeLessThanOrEqual(10);
		expect(this.network.live).toBe(this.connections.length);
	}

	/** The most attempts in any span of that length. */
	mostWithin(milliseconds: number): number {
		const counts = this.attemptsAt.map(
			(from) => this.attemptsAt.filter((at) => at >= from && at < from + milliseconds).length,
		);
		return Math.max(...counts);
	}
}

const downFor = [0, 5_000, 30_000, 120_000, 600_000];
const seeds = [1, 2, 3, 4, 5];
const cases = downFor.flatMap((down) => seeds.map((seed) => [down, seed] as const));

describe('50 sessions whose server restarts', () => {
	it.each(cases)(
		'after %i ms are all back within 90 s, at most 10 attempts in 100 ms (seed %i)',
		async (down, seed) => {
			const node = await new Node(seed).opened();
			node.up = false;
			for (const socket of node.network.sockets) socket.end(1012);
			await node.clock.advance(down);
			node.up = true;
			await node.comesBack(90_000);
		},
	);

	it('behind a link that swallows everything are back within 90 s of its return', async () => {
		const node = await new Node(7).opened();
		node.up = false;
		node.whileDown = () => {};
		await node.clock.advance(300_000);
		expect(node.open()).toBe(0);
		node.up = true;
		await node.comesBack(90_000);
	});

	it('and refuses them once at the same moment, come back spread', async () => {
		const node = await new Node(8).opened();
		for (const socket of node.network.sockets) socket.refuse(401);
		await node.comesBack(7000);
	});

	it('are not held up by each other: one drop among 200 is back within a second, as is one of 1', async () => {
		const node = await new Node(10, 200).opened();
		node.network.sockets[17]?.end(1012);
		await node.comesBack(1000);
	});

	it('of 200 at once are all back within 30 s, at the limited rate', async () => {
		const node = await new Node(11, 200).opened();
		for (const socket of node.network.sockets) socket.end(1012);
		await node.comesBack(30_000);
		expect(node.mostWithin(1000)).toBeLessThanOrEqual(15);
	});
});
