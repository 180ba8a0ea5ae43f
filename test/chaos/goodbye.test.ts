import { FastClock } from './fastClock';
import { Station } from './station';

let station: Station;

/** Messages are on their way in both directions when the connection is closed. */
beforeEach(async () => {
	// At its true speed: the link must be faster than the time for the goodbye.
	station = await Station.open({}, {}, new FastClock(1));
	await station.opened();
	station.proxy.setWeather({ kind: 'delay', milliseconds: 20, jitterMilliseconds: 0 });
	station.startTraffic();
	await station.received(50);
});
afterEach(async () => {
	expect(await station.close()).toEqual({ timers: 0, channels: 0 });
});

test('nothing is lost of what the server sends until it has seen the goodbye', async () => {
	await station.connection.close('the end of the test');
	expect(station.numbers()).toEqual(
		Array.from({ length: station.sent }, (_, index) => index + 1),
	);
	expect(station.account.ended).toEqual([]);
});

test('nothing more comes where it is not wanted', async () => {
	const closing = station.connection.close();
	const { length } = station.account.messages;
	await closing;
	expect(station.account.messages).toHaveLength(length);
	expect(station.sent).toBeGreaterThan(length);
});
