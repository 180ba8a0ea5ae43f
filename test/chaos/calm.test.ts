import type { UpgradeStep } from '../../dev/agent-service/server';
import { SteadyClock } from '../steadyClock';
import { turns } from '../turns';
import { Station } from './station';

let station: Station;

afterEach(() => station.expectNothingLeft());

/** Each step leaves the network time to do what is due: on a busy machine, an attempt would take seconds of this clock. */
async function pass(seconds: number, stepMilliseconds = 500): Promise<void> {
	for (let passed = 0; passed < seconds * 1000; passed += stepMilliseconds) {
		station.clock.jump(stepMilliseconds);
		do await turns(15);
		while (station.isConnecting);
	}
}

describe('a rolling deployment: back within 15 s of the return of the server, without an alert, after', () => {
	it.each<[string, number, UpgradeStep]>([
		['5 s of 404', 5, { status: 404 }],
		['5 s of 403', 5, { status: 403 }],
		['5 s of redirects', 5, { status: 302, headers: { Location: 'http://elsewhere.test/' } }],
		['5 s of 503', 5, { status: 503 }],
		['5 s of refused connections', 5, { fault: 'reset' }],
	])('%s', async (_name, seconds, step) => {
		const server = { isUp: true };
		const options = { upgrade: () => (server.isUp ? undefined : step) };
		// Time passes by steps, so that a busy machine changes nothing. The waits are the middle of
		// their windows: by chance, one of a hundred outages of 5 s ends with more than 15 s.
		station = await Station.open({}, options, new SteadyClock(1), () => 0.5);
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
});
