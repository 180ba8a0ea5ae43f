import { Heartbeat } from '../../../nodes/Agent/session/channel';
import { FakeClock } from './fakeClock';

const usual = { heartbeatSeconds: 25, pingText: '' };

function watch(settings = usual, answers = true) {
	const clock = new FakeClock();
	const seen = { pings: [] as number[], deadAt: undefined as number | undefined, unanswered: 0, answers };
	const heartbeat: Heartbeat = new Heartbeat(
		settings,
		{
			ping() {
				seen.pings.push(clock.monotonicMilliseconds());
				if (seen.answers)
					clock.after(10, () => {
						heartbeat.seen(settings.pingText === '' ? 'pong' : 'message');
					});
			},
			dead() {
				seen.deadAt = clock.monotonicMilliseconds();
			},
			unanswered() {
				seen.unanswered++;
			},
		},
		clock,
	);
	heartbeat.start();
	return { clock, heartbeat, seen };
}

describe('Heartbeat', () => {
	it('pings at once and every 25 s, with one timer', async () => {
		const { clock, seen } = watch();
		await clock.advance(100_000);
		expect(seen.pings).toEqual([0, 25_000, 50_000, 75_000, 100_000]);
		expect(seen.deadAt).toBeUndefined();
		seen.answers = false;
		await clock.advance(10);
		expect(clock.pending).toBe(1);
	});

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
			heartbeat.seen(kind);
			await clock.advance(15_000);
		}
		expect(seen.deadAt).toBeUndefined();
	});

	it('never ends a link whose server has not answered a single ping, and says so once', async () => {
		const { clock, heartbeat, seen } = watch(usual, false);
		for (let minute = 0; minute < 60; minute++) {
			if (minute % 10 === 0) heartbeat.seen('message');
			await clock.advance(60_000);
		}
		expect(seen.deadAt).toBeUndefined();
		expect(seen.unanswered).toBe(1);
		expect(seen.pings.length).toBeGreaterThan(100);
	});

	it('is off with a heartbeat of 0', async () => {
		const { clock, seen } = watch({ ...usual, heartbeatSeconds: 0 });
		await clock.advance(1_000_000);
		expect([seen.pings, clock.pending]).toEqual([[], 0]);
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
		heartbeat.seen('message');
		await clock.advance(1_000_000);
		expect(seen.deadAt).toBeUndefined();
	});

	it('after a stall of our own it asks again instead of ending the link', async () => {
		const { clock, seen } = watch();
		await clock.advance(1000);
		seen.answers = false;
		await clock.advance(25_000);
		clock.stall(60_000);
		seen.answers = true;
		await clock.advance(100_000);
		expect(seen.deadAt).toBeUndefined();
	});

	it.each([
		[1000, 46_000],
		[1001, 66_001],
	])('takes %i ms more than it had asked for as no stall, or as one', async (late, deadAt) => {
		const { clock, seen } = watch();
		await clock.advance(1000);
		seen.answers = false;
		await clock.advance(43_999);
		clock.stall(late + 1);
		await clock.advance(60_000);
		expect(seen.deadAt).toBe(deadAt);
	});

	it('a dead link shows up after a stall too, one deadline later', async () => {
		const { clock, seen } = watch();
		await clock.advance(1000);
		seen.answers = false;
		await clock.advance(25_000);
		clock.stall(60_000);
		await clock.advance(20_000);
		expect(seen.deadAt).toBe(106_000);
	});

	it('counts nothing while suspended, and pings at once afterwards', async () => {
		const { clock, heartbeat, seen } = watch();
		await clock.advance(1000);
		heartbeat.suspend();
		await clock.advance(500_000);
		expect([seen.pings, clock.pending, seen.deadAt]).toEqual([[0], 0, undefined]);
		heartbeat.start();
		expect(seen.pings).toEqual([0, 501_000]);
		seen.answers = false;
		await clock.advance(20_010);
		expect(seen.deadAt).toBeUndefined();
	});

	it.each([1, 5, 10, 60, 300])(
		'with a heartbeat of %i s a peer is dead 20 s after the unanswered ping',
		async (seconds) => {
			const { clock, seen } = watch({ ...usual, heartbeatSeconds: seconds });
			await clock.advance(seconds * 1000 + 500);
			seen.answers = false;
			await clock.advance(seconds * 1000 + 20_000);
			expect(seen.deadAt).toBe(seconds * 2000 + 20_000);
		},
	);
});
