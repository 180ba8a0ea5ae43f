import type { Clock } from '../../../nodes/core/runtime';
import { TurnPace } from '../../../nodes/Workspace/runner/turnPace';

class HandClock implements Clock {
	now = 5000;
	getWallMilliseconds = () => this.now;
	getMonotonicMilliseconds = () => this.now;
	callAfter = () => () => undefined;
}

const book = 'spreadsheet';

/** The waits of turns that are wanted all the time, each of which takes so long. */
function takeAll(count: number, milliseconds: number, hadToWait: boolean): number[] {
	const clock = new HandClock();
	const pace = new TurnPace(clock);
	return Array.from({ length: count }, () => {
		const wait = pace.takeTurn(book, hadToWait);
		clock.now += wait + milliseconds;
		return wait;
	});
}

test('after the first few, turns that several runs want come once a second', () => {
	expect(takeAll(8, 100, true)).toEqual([0, 0, 0, 0, 600, 900, 900, 900]);
});

test('turns that take longer than that wait for nothing', () => {
	expect(takeAll(8, 1000, true)).toEqual(Array(8).fill(0));
});

test('a run that finds nobody before it never waits, and makes others wait for a second at most', () => {
	expect(takeAll(100, 10, false)).toEqual(Array(100).fill(0));
	const pace = new TurnPace(new HandClock());
	for (let turn = 0; turn < 100; turn++) pace.takeTurn(book, false);
	expect(pace.takeTurn(book, true)).toBe(1000);
	expect(pace.takeTurn('another', true)).toBe(0);
});

test('after a pause the first turns are free again', () => {
	const clock = new HandClock();
	const pace = new TurnPace(clock);
	for (let turn = 0; turn < 100; turn++) pace.takeTurn(book, false);
	clock.now += 4000;
	expect([1, 2, 3, 4, 5].map(() => pace.takeTurn(book, true))).toEqual([0, 0, 0, 0, 1000]);
});
