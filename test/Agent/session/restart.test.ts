import { ConnectRateLimiter } from '../../../nodes/Agent/session/reconnect';
import { connect, type Connection } from '../../../nodes/Agent/session/connection';
import { connectRequest, identityOf } from '../../../nodes/Agent/session/credentials';
import { FakeClock } from './fakeClock';
import { Account, canaries, credentialOf, signatureOf, standardOptions } from './fakeSession';
import { FakeNetwork, type FakeSocket } from './fakeSocket';

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
		const rateLimiter = new ConnectRateLimiter(this.clock);
		this.network.onSocket = (socket) => {
			this.attemptsAt.push(this.clock.monotonicMilliseconds());
			if (!this.up) {
				this.whileDown(socket);
				return;
			}
			socket.onPing = () => {
				this.clock.after(1, () => {
					if (this.up) socket.listener.control('pong');
				});
			};
			socket.open();
		};
		for (let index = 0; index < sessions; index++) {
			const identity = () => identityOf(signatureOf(canaries.signature), {}, this.clock.wallMilliseconds());
			const readRequest = (sessionId: string) =>
				Promise.resolve(connectRequest(sessionId, credentialOf('ws://agent.example'), identity()));
			const { loadSocket } = this.network;
			const log = new Account().logger;
			const environment = { clock: this.clock, log, random, loadSocket, rateLimiter };
			const listener = { message: () => {} };
			this.connections.push(
				connect({ ...standardOptions, sessionId: `s${index}` }, readRequest, listener, environment),
			);
		}
	}

	open(): number {
		return this.connections.filter((connection) => connection.status().state === 'open').length;
	}

	/** @returns how long it took until all channels were open, in milliseconds */
	async allBack(limit: number): Promise<number> {
		const from = this.clock.monotonicMilliseconds();
		while (this.open() < this.connections.length) {
			if (this.clock.monotonicMilliseconds() - from > limit) return Number.POSITIVE_INFINITY;
			await this.clock.advance(100);
		}
		return this.clock.monotonicMilliseconds() - from;
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
