import { type Balance, balanceOf } from '../../dev/chaos/balance';
import type { Link, Weather } from '../../dev/chaos/link';
import { until } from '../Agent/session/tap';
import { reset, Station } from './station';

let station: Station;

beforeEach(async () => {
	station = await Station.open();
	await station.opened();
});
afterEach(() => station.expectNothingLeft());

/** Expects that the traffic goes on, that nothing came twice, and this many losses and gaps. */
async function expectBalance(expected: Partial<Balance>): Promise<void> {
	await station.received(20);
	await station.settle();
	const balance = balanceOf(station.account.messages);
	expect(balance).toEqual({ ...balance, duplicated: 0, unmarked: 0, ...expected });
}

describe('nothing is lost and nothing comes twice, on the same channel,', () => {
	it.each<[string, Weather]>([
		['when packets are late', { kind: 'delay', milliseconds: 20, jitterMilliseconds: 30 }],
		['when bytes trickle', { kind: 'trickle', milliseconds: 0.1 }],
		['when the link stalls', { kind: 'stall' }],
	])('%s', async (_name, weather) => {
		await station.startTraffic();
		station.proxy.setWeather(weather);
		await new Promise((resolve) => setTimeout(resolve, 300));
		station.proxy.setWeather({ kind: 'fair' });
		await expectBalance({ lost: 0, gaps: 0 });
		expect(station.proxy.arrivals).toBe(1);
	});

	it('when the reader pauses during a burst', async () => {
		station.connection.pause();
		for (let n = 1; n <= 20_000; n++) station.service.send('s1', { n });
		station.sent = 20_000;
		// Ten minutes in which nothing is read: no ping can be answered, and none is missed.
		station.clock.jump(600_000);
		await new Promise((resolve) => setTimeout(resolve, 100));
		expect(station.account.messages.length).toBeLessThan(20_000);
		station.connection.resume();
		await expectBalance({ lost: 0, gaps: 0 });
		expect(station.proxy.arrivals).toBe(1);
	});
});

describe('what the server still has is not lost, and the gap is told,', () => {
	it.each([1000, 1001, 1005, 1011, 1012, 1013, 4000])(
		'when the server closes with %i',
		async (code) => {
			await station.startTraffic();
			for (const channel of station.service.getChannels('s1')) {
				if (code === 1005) channel.close();
				else channel.close(code, 'moving');
			}
			await expectBalance({ lost: 0, gaps: 1 });
		},
	);

	it('when the server restarts', async () => {
		await station.startTraffic();
		await station.stopService(1012);
		await until(() => station.account.ended.length >= 4);
		await station.startService();
		await expectBalance({ lost: 0, gaps: 1 });
		const events = station.account.events.map(({ event }) => event);
		expect(events).toEqual(['connected', 'disconnected', 'reconnected']);
	});
});

describe('what was on its way is lost, nothing comes twice, and the gap is told,', () => {
	it.each<[string, (link: Link) => void]>([
		['a reset', reset],
		[
			'a half-closed link',
			(link) => {
				link.halfClose();
			},
		],
		[
			'a cut in the middle of a frame',
			(link) => {
				link.cutAfter(5);
			},
		],
		[
			'a cut in the middle of a header',
			(link) => {
				link.cutAfter(1);
			},
		],
	])('after %s', async (_name, strike) => {
		await station.startTraffic();
		station.proxy.each(strike);
		await until(() => station.account.ended.length >= 1);
		await expectBalance({ gaps: 1 });
	});

	it('after a server that was killed', async () => {
		await station.startTraffic();
		await station.stopService();
		await station.startService();
		await expectBalance({ gaps: 1 });
	});

	it('after a black hole', async () => {
		await station.startTraffic();
		station.proxy.setWeather({ kind: 'blackHole' });
		await until(() => station.account.ended.length >= 1);
		station.proxy.setWeather({ kind: 'fair' });
		await expectBalance({ gaps: 1 });
		expect(station.account.ended[0]?.closeReason.kind).toBe('silent');
		const marked = station.account.messages.find(({ gapMs }) => gapMs !== undefined);
		expect(marked?.gapMs).toBeGreaterThan(20_000);
	});
});

describe('the session comes back', () => {
	it.each([
		['is reset', 'reset'],
		['is accepted and never answered', 'hold'],
	] as const)('when each connection %s for a while', async (_name, arrival) => {
		station.proxy.onArrival = arrival;
		station.proxy.each(reset);
		await until(() => station.account.ended.length >= 3);
		station.proxy.onArrival = 'connect';
		await station.opened();
		expect(station.account.ended.map(({ wasOpen }) => wasOpen).lastIndexOf(true)).toBe(0);
	});

	it('when the handshake falls into a black hole', async () => {
		station.proxy.weather = { kind: 'blackHole' };
		station.proxy.each(reset);
		await until(() =>
			station.account.ended.some(({ closeReason }) => closeReason.kind === 'connectTimeout'),
		);
		station.proxy.setWeather({ kind: 'fair' });
		await station.opened();
	});
});
