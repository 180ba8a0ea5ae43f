import type { UpgradeStep } from '../../dev/agent-service/script';
import { balanceOf } from '../../dev/chaos/balance';
import { until } from '../Agent/session/tap';
import { SteadyClock } from '../steadyClock';
import { turns } from '../turns';
import { reset, Station } from './station';

let station: Station;

afterEach(() => station.expectNothingLeft());

/** A station whose channel breaks, so that the next upgrades go as scripted. */
async function disturbed(clock: SteadyClock, ...steps: UpgradeStep[]): Promise<void> {
	station = await Station.open({}, {}, clock);
	await station.passing();
	station.service.scriptUpgrades(...steps);
	station.service.dropChannels();
}

/** Time passes between attempts only, so that what the server answers decides, however slow the machine is. */
const standing = () => new SteadyClock(0);

describe('the session comes back with a gap after', () => {
	it.each<[string, UpgradeStep]>([
		...[200, 302, 400, 401, 403, 404, 408, 410, 425, 429, 500, 502, 503, 504].map(
			(status): [string, UpgradeStep] => [
				`one status ${status}`,
				{ status, body: 'no canary-key-7f3a here' },
			],
		),
		['a wrong accept key', { fault: 'wrongAcceptKey' }],
		['a reset handshake', { fault: 'reset' }],
		['a handshake that trickles', { fault: 'trickle' }],
		['a handshake without an answer', { fault: 'silence' }],
		['accept, then 1000', { closeCode: 1000 }],
		['accept, then 4401', { closeCode: 4401, closeReason: '0xcanarysignature91' }],
		['accept, then a reset', { drop: 'reset' }],
		['accept, then the end', { drop: 'end' }],
		['one message above the limit', { messages: ['x'.repeat(17 * 1024 * 1024)] }],
		[
			'one message of invalid UTF-8',
			{ messages: [{ frame: Buffer.from([0xc3, 0x28]), isBinary: false }] },
		],
		['a storm of pings', { pings: 3000, drop: 'end', closeAfterMilliseconds: 50 }],
	])('%s', async (_name, step) => {
		const endsByTime =
			'fault' in step && (step.fault === 'trickle' || step.fault === 'silence');
		await disturbed(endsByTime ? new SteadyClock(20) : standing(), step);
		await station.passing(() => station.account.ended.length >= 2);
		await station.passing();
		station.service.send('s1', { n: 1 });
		await station.received(1);
		expect(station.account.messages.at(-1)?.gapMs).toBeGreaterThan(0);
		expect(station.account.alerts).toEqual([]);
	});
});

describe('the long backoff, with one alert, and out of it again, after', () => {
	it.each<[string, UpgradeStep[], number]>([
		...[302, 400, 401, 403, 404, 410].map((status): [string, UpgradeStep[], number] => [
			`status ${status} twice`,
			[{ status }, { status }],
			// A redirect is not followed.
			status === 302 ? 502 : status,
		]),
		...[1002, 1003, 1007, 1008, 1010].map((closeCode): [string, UpgradeStep[], number] => [
			`close code ${closeCode}`,
			[{ closeCode }],
			503,
		]),
	])('%s', async (_name, steps, code) => {
		await disturbed(standing(), ...steps);
		await station.passing(() => station.account.ended.at(-1)?.decision === 'longBackoff');
		expect(station.account.alerts).toEqual([]);
		// The first attempt of the long backoff fails, too.
		station.service.scriptUpgrades(steps.at(-1) ?? {});
		await station.passing(() => station.account.alerts.length > 0);
		expect(station.account.alerts.map((failure) => failure.code)).toEqual([code]);
		station.signature = '0xreplaced';
		await station.passing();
		expect(station.service.upgrades.at(-1)?.query.signature).toBe('0xreplaced');
		// Stable for long enough: the long backoff is over, and the next outage is a new one.
		await station.jump(31_000);
		station.service.dropChannels();
		await until(() => (station.account.ended.at(-1)?.delayMilliseconds ?? Infinity) <= 1000);
		await station.passing();
		expect(station.account.alerts.length).toBe(1);
	});
});

it('a server that sends its last messages again loses none, and repeats none without a gap mark', async () => {
	station = await Station.open({}, { replay: 100 });
	await station.opened();
	await station.startTraffic();
	for (let time = 1; time <= 5; time++) {
		await station.received(20);
		station.proxy.each(reset);
		await until(() => station.account.ended.length >= time);
		await station.opened();
	}
	await station.received(20);
	await station.settle();
	expect(balanceOf(station.account.messages)).toMatchObject({ lost: 0, unmarked: 0, gaps: 5 });
});

it('two connections of a session that allows one do not kick each other without end', async () => {
	station = await Station.open({}, { kickCode: 4000 });
	await station.opened();
	const other = station.connect();
	for (let minute = 0; minute < 30; minute++) {
		station.clock.jump(60_000);
		await turns(10);
	}
	expect(station.proxy.arrivals).toBeLessThan(120);
	await other.close();
	await station.opened();
});
