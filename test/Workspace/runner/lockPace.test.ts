import type { Clock } from '../../../nodes/core/clock';
import { LockPace } from '../../../nodes/Workspace/runner/lockPace';

class HandClock implements Clock {
	now = 5000;
	getWallMilliseconds = () => this.now;
	getMonotonicMilliseconds = () => this.now;
	callAfter = () => () => undefined;
}

const book = 'spreadsheet';

/** The waits of groups that are wanted all the time, each of which takes so long. */
function takeAll(count: number, milliseconds: number, isCrowded: boolean): number[] {
	const clock = new HandClock();
	const pace = new LockPace(clock);
	return Array.from({ length: count }, () => {
		const wait = pace.take(book, isCrowded);
		clock.now += wait + milliseconds;
		return wait;
	});
}

test('after the first few, groups come every two seconds', () => {
	expect(takeAll(9, 100, true)).toEqual([0, 0, 0, 0, 0, 0, 1400, 1900, 1900]);
});

test('groups that take longer than that wait for nothing', () => {
	expect(takeAll(9, 2000, true)).toEqual(Array(9).fill(0));
});

test('a run that finds nobody before it never waits, and makes others wait for two seconds at most', () => {
	expect(takeAll(100, 10, false)).toEqual(Array(100).fill(0));
	const pace = new LockPace(new HandClock());
	for (let group = 0; group < 100; group++) pace.take(book, false);
	expect(pace.take(book, true)).toBe(2000);
	expect(pace.take('another', true)).toBe(0);
});

test('after a pause the first groups are free again', () => {
	const clock = new HandClock();
	const pace = new LockPace(clock);
	for (let group = 0; group < 100; group++) pace.take(book, false);
	clock.now += 12_000;
	expect([1, 2, 3, 4, 5, 6, 7].map(() => pace.take(book, true))).toEqual([0, 0, 0, 0, 0, 0, 2000]);
});
