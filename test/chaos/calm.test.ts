import type { AgentServiceOptions, UpgradeStep } from '../../dev/agent-service/server';
import { FastClock } from './fastClock';
import { Station } from './station';

let station: Station;

afterEach(async () => {
	expect(station.told()).not.toMatch(/canary/);
	expect(await station.close()).toEqual({ timers: 0, channels: 0 });
});

/**
 * A station whose time passes by steps, so that a busy machine changes nothing, and whose waits are the middle of their windows:
 * by chance, one of a hundred outages of 5 s ends with a wait of more than 15 s.
 */
async function open(service: AgentServiceOptions = {}): Promise<Station> {
	station = await Station.open({}, service, new FastClock(1), () => 0.5);
	return station;
}

/** Each step leaves the network time to do what is due: on a busy machine, an attempt would take seconds of this clock. */
async function pass(seconds: number, stepMilliseconds = 500): Promise<void> {
	for (let passed = 0; passed < seconds * 1000; passed += stepMilliseconds) {
		station.clock.jump(stepMilliseconds);
		do await new Promise((resolve) => setTimeout(resolve, 15));
		while (station.isConnecting);
	}
}

const greeting: UpgradeStep = { messages: [{ type: 'hello' }] };

describe('a server that greets and closes is asked less and less often, and one alert names the session,', () => {
	it.each<[string, UpgradeStep]>([
		['with 1000', { closeCode: 1000 }],
		['with 1011', { closeCode: 1011 }],
		['with 4001', { closeCode: 4001 }],
		['with FIN', { drop: 'end' }],
	])('%s', async (_name, end) => {
		await open({ upgrade: () => ({ ...greeting, ...end }) });
		await pass(40);
		expect(station.proxy.arrivals).toBeLessThan(14);
		// On a busy machine the connects come later than the clock's steps.
		for (let more = 0; station.account.alerts.length === 0 && more < 30; more++)
			await pass(60, 5000);
		expect(station.account.alerts).toMatchObject([
			{
				kind: 'outage',
				failure: { message: expect.stringContaining('session s1') as string },
			},
		]);
	});
});

it('two workflows on one session, of which the server keeps the newest, do not hammer it, and are told', async () => {
	await open({ kickCode: 4000, upgrade: () => greeting });
	await station.opened();
	const other = station.connect();
	await pass(30);
	expect(station.proxy.arrivals).toBeLessThan(20);
	await pass(900, 2000);
	expect(station.account.alerts.map(({ kind }) => kind)).toContain('outage');
	await other.close();
});

describe('a rolling deployment: back within 15 s of the return of the server, without an alert, after', () => {
	it.each<[string, number, UpgradeStep]>([
		['5 s of 404', 5, { status: 404 }],
		['5 s of 403', 5, { status: 403 }],
		['5 s of redirects', 5, { status: 302, headers: { Location: 'http://elsewhere.test/' } }],
		['5 s of 503', 5, { status: 503 }],
		['5 s of refused connections', 5, { fault: 'reset' }],
	])('%s', async (_name, seconds, step) => {
		const server = { isUp: true };
		await open({ upgrade: () => (server.isUp ? undefined : step) });
		await station.opened();
		await pass(31, 5000);
		server.isUp = false;
		station.service.dropChannels();
		await pass(seconds);
		server.isUp = true;
		await pass(15);
		expect(station.isOpen).toBe(true);
		expect(station.account.alerts).toEqual([]);
	});

	it('a single redirect', async () => {
		await open();
		await station.opened();
		station.service.scriptUpgrades({ status: 302, headers: { Location: '/elsewhere' } });
		station.service.dropChannels();
		await pass(15);
		expect(station.isOpen).toBe(true);
		expect(station.account.alerts).toEqual([]);
	});
});
