import { pause, until } from '../waiting.ts';
import type { Fault } from './fault.ts';
import { Executed, type Reading } from './reading.ts';
import type { World } from './world.ts';

const trafficMilliseconds = 1500;
const quietMilliseconds = 1000;
/** Time allowed for executions to end. Some never do, because n8n could not record their end. */
const endingMilliseconds = 10_000;

export interface Outcome {
	readonly readings: readonly Reading[];
	/** Executions that neither succeeded nor failed. */
	readonly unfinished: number;
	readonly failed: number;
}

/** Runs one fault under traffic and collects all of its effects. */
export async function strikeOnce(world: World, fault: Fault, round: string): Promise<Outcome> {
	const { probe } = world.station;
	const newest = probe.newest();
	for (const line of world.lines) line.begin(round);
	world.startTraffic();
	await pause(trafficMilliseconds);
	const strikes = await fault.strike(world);
	await world.untilOpen();
	await pause(trafficMilliseconds);
	world.stopTraffic();
	// The last numbers go through a working channel, so any number missing before them is lost.
	for (const line of world.lines) line.make(world.station.service);
	const executed = await settled(world, newest, fault.quietMilliseconds ?? quietMilliseconds);
	const readings = [...strikes].map(([line, strike]) => executed.reading(line, fault, strike));
	return { readings, unfinished: executed.unfinished, failed: executed.failed };
}

/** Waits until the last numbers have arrived and nothing more follows. */
async function settled(world: World, newest: number, quiet: number): Promise<Executed> {
	let last = { count: -1, unfinished: 0, at: 0 };
	let executed = new Executed(world.station.probe, newest);
	const isSettled = () => {
		executed = new Executed(world.station.probe, newest);
		const { count, unfinished } = executed;
		if (count !== last.count || unfinished !== last.unfinished)
			last = { count, unfinished, at: performance.now() };
		const enough = unfinished === 0 ? quiet : Math.max(quiet, endingMilliseconds);
		return performance.now() - last.at > enough && world.lines.every((line) => executed.hasLast(line));
	};
	await until('the last message of every session', isSettled, { everyMilliseconds: 300 });
	return executed;
}
