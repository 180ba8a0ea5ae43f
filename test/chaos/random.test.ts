import { balanceOf } from '../../dev/chaos/balance';
import { until } from '../Agent/session/tap';
import { turns as pause } from '../turns';
import { extent } from './extent';
import { Station } from './station';

/** Seeded: xorshift32. */
function seeded(seed: number): (below: number) => number {
	let state = seed * 2654435761;
	return (below) => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % below;
	};
}

/** Every fault leaves a world in which the session can come back. */
const faults: ((station: Station, random: (below: number) => number) => Promise<void> | void)[] = [
	(station) => {
		station.proxy.each((link) => {
			link.reset();
		});
	},
	(station) => {
		station.proxy.each((link) => {
			link.halfClose();
		});
	},
	(station, random) => {
		station.proxy.each((link) => {
			link.cutAfter(random(40));
		});
	},
	(station, random) => {
		station.service.closeChannels([1000, 1001, 1011, 1012, 4000][random(5)] ?? 1000);
	},
	(station) => {
		station.service.dropChannels();
	},
	(station, random) => {
		station.service.scriptUpgrades(
			{ status: [408, 429, 500, 503][random(4)] ?? 503 },
			{ fault: 'reset' },
		);
		station.service.dropChannels();
	},
	async (station, random) => {
		station.proxy.setWeather({
			kind: 'delay',
			milliseconds: random(10),
			jitterMilliseconds: random(20),
		});
		await pause(random(50));
		station.proxy.setWeather({ kind: 'fair' });
	},
	async (station, random) => {
		station.proxy.setWeather({ kind: 'stall' });
		await pause(random(50));
		station.proxy.setWeather({ kind: 'fair' });
	},
	async (station) => {
		station.proxy.setWeather({ kind: 'blackHole' });
		await pause(5);
		station.clock.jump(25_000);
		await pause(5);
		station.clock.jump(20_000);
		await pause(5);
		station.proxy.setWeather({ kind: 'fair' });
		// What left meanwhile is missed only now.
		station.proxy.each((link) => {
			link.reset();
		});
	},
	async (station, random) => {
		station.connection.pause();
		await pause(random(30));
		station.connection.resume();
	},
	async (station, random) => {
		await station.stopService(random(2) === 0 ? 1012 : undefined);
		await pause(random(50));
		await station.startService();
	},
	(station) => {
		station.clock.jump(30_000);
	},
];

describe('a session under random faults', () => {
	it.each(Array.from({ length: extent.seeds }, (_, index) => index + 1))(
		'tells every gap, repeats nothing and ends open (seed %i)',
		async (seed) => {
			const random = seeded(seed);
			const station = await Station.open({ reconnectMaxDelaySeconds: 5 });
			await station.opened();
			station.startTraffic();
			for (let count = 0; count < extent.faultsPerRun; count++) {
				await faults[random(faults.length)]?.(station, random);
				await pause(random(60));
				if (random(4) === 0) await station.opened();
			}
			await station.opened();
			await station.received(extent.faultsPerRun + 1);
			await station.settle();
			expect(balanceOf(station.account.messages)).toMatchObject({
				duplicated: 0,
				unmarked: 0,
			});
			expect(station.numbers().length).toBeGreaterThan(extent.faultsPerRun);
			expect(station.told()).not.toMatch(/canary/);
			expect(await station.close()).toEqual({ timers: 0, channels: 0 });
		},
	);
});

it('connections that are opened and closed leave no socket and no timer', async () => {
	const tcp = () =>
		process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length;
	const station = await Station.open();
	await station.opened();
	const before = tcp();
	expect(before).toBeGreaterThan(0);
	for (let cycle = 0; cycle < extent.cycles; cycle++) {
		const upgrades = station.service.upgrades.length;
		const connection = station.connect({ sessionId: 'other' });
		// Closed in any state: before it connects, while it does, when it is open.
		if (cycle % 3 === 1) await until(() => station.service.upgrades.length > upgrades);
		if (cycle % 3 === 2) await until(() => connection.getStatus().isOpen);
		await connection.close();
	}
	await until(() => station.service.countOpenChannels() === 1 && tcp() === before);
	expect(await station.close()).toEqual({ timers: 0, channels: 0 });
});

it('a burst arrives whole and in order', async () => {
	const station = await Station.open();
	await station.opened();
	for (let n = 1; n <= extent.burst; n++) station.service.send('s1', { n });
	await station.received(extent.burst);
	expect(balanceOf(station.account.messages)).toEqual({
		lost: 0,
		duplicated: 0,
		unmarked: 0,
		gaps: 0,
	});
	await station.close();
});
