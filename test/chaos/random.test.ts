import type { Link } from '../../dev/chaos/link';
import { balanceOf } from '../../dev/chaos/balance';
import { until } from '../Agent/session/tap';
import { Seeded } from '../faults/seeded';
import { turns as pause } from '../turns';
import { reset, Station } from './station';

/** How much runs: the short form with every run of the tests, the long one with CHAOS=long. */
const long = process.env.CHAOS === 'long';
const seedCount = long ? 100 : 4;
const faultsPerRun = long ? 60 : 25;
/** Connections opened and closed one after another. */
const cycleCount = long ? 2000 : 100;

/** Every fault leaves a world in which the session can come back. */
const faults: ((station: Station, random: Seeded) => Promise<void> | void)[] = [
	({ proxy }) => {
		proxy.each(reset);
	},
	({ proxy }) => {
		proxy.each((link: Link) => {
			link.halfClose();
		});
	},
	({ proxy }, random) => {
		proxy.each((link: Link) => {
			link.cutAfter(random.within(0, 39));
		});
	},
	({ service }, random) => {
		service.closeChannels(random.one([1000, 1001, 1011, 1012, 4000]));
	},
	({ service }) => {
		service.dropChannels();
	},
	({ service }, random) => {
		service.scriptUpgrades({ status: random.one([408, 429, 500, 503]) }, { fault: 'reset' });
		service.dropChannels();
	},
	async ({ proxy }, random) => {
		const [milliseconds, jitterMilliseconds] = [random.within(0, 9), random.within(0, 19)];
		proxy.setWeather({ kind: 'delay', milliseconds, jitterMilliseconds });
		await pause(random.within(0, 49));
		proxy.setWeather({ kind: 'fair' });
	},
	async ({ proxy }, random) => {
		proxy.setWeather({ kind: 'stall' });
		await pause(random.within(0, 49));
		proxy.setWeather({ kind: 'fair' });
	},
	async ({ proxy, clock }) => {
		proxy.setWeather({ kind: 'blackHole' });
		await pause(5);
		clock.jump(25_000);
		await pause(5);
		clock.jump(20_000);
		await pause(5);
		proxy.setWeather({ kind: 'fair' });
		// What left meanwhile is missed only now.
		proxy.each(reset);
	},
	async ({ connection }, random) => {
		connection.pause();
		await pause(random.within(0, 29));
		connection.resume();
	},
	async (station, random) => {
		await station.stopService(random.one([1012, undefined]));
		await pause(random.within(0, 49));
		await station.startService();
	},
	({ clock }) => {
		clock.jump(30_000);
	},
];

describe('a session under random faults', () => {
	it.each(Array.from({ length: seedCount }, (_, index) => index + 1))(
		'tells every gap, repeats nothing and ends open (seed %i)',
		async (seed) => {
			const random = new Seeded(seed);
			const station = await Station.open({ reconnectMaxDelaySeconds: 5 });
			await station.opened();
			await station.startTraffic();
			for (let count = 0; count < faultsPerRun; count++) {
				await random.one(faults)(station, random);
				await pause(random.within(0, 59));
				if (random.within(0, 3) === 0) await station.opened();
			}
			await station.opened();
			await station.received(faultsPerRun + 1);
			await station.settle();
			const balance = balanceOf(station.account.messages);
			expect(balance).toMatchObject({ duplicated: 0, unmarked: 0 });
			await station.expectNothingLeft();
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
	for (let cycle = 0; cycle < cycleCount; cycle++) {
		const upgrades = station.service.upgrades.length;
		const connection = station.connect({ sessionId: 'other' });
		// Closed in any state: before it connects, while it does, when it is open.
		if (cycle % 3 === 1) await until(() => station.service.upgrades.length > upgrades);
		if (cycle % 3 === 2) await until(() => connection.getStatus().isOpen);
		await connection.close();
	}
	await until(() => station.service.countOpenChannels() === 1 && tcp() === before);
	await station.expectNothingLeft();
});
