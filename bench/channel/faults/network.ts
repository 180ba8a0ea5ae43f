// Faults of the service and of the network path to it.
import type { Link } from '../../../dev/chaos/link.ts';
import { pause, until } from '../waiting.ts';
import { allAt, type Fault, type Strike } from './fault.ts';
import { type Line, manners } from './line.ts';
import type { World } from './world.ts';

const awayMilliseconds = 3000;
/** Heartbeat interval. The black hole is tested in every phase of it. */
const heartbeatMilliseconds = 25_000;

export const networkFaults: readonly Fault[] = [
	{
		name: 'the key is refused three times (401), published again',
		everyRounds: 3,
		noticedBy: 'failedExecution',
		overBy: 'opening',
		lossless: manners,
		single: manners,
		strike: refuseForGood,
	},
	// Right after a new start: a channel that was refused before and has not been stable since goes to the
	// slow lane at once.
	{
		name: 'the key is refused once (401)',
		everyRounds: 3,
		noticedBy: 'event',
		overBy: 'event',
		lossless: manners,
		single: manners,
		async strike(world) {
			const struck = refuse(world, 1);
			await world.untilReopened(struck);
			return allAt(world, struck);
		},
	},
	{
		name: 'the service restarts: 1012, then 3 s away',
		everyRounds: 2,
		noticedBy: 'event',
		overBy: 'event',
		lossless: manners,
		single: manners,
		async strike(world) {
			const { station } = world;
			const struck = Date.now();
			station.service.closeChannels(1012);
			await until('the end of all channels', () => station.service.openSockets() === 0);
			return await restart(world, struck);
		},
	},
	{
		name: 'the service is killed, 3 s away',
		everyRounds: 2,
		noticedBy: 'event',
		overBy: 'event',
		lossless: ['repeats'],
		single: manners,
		strike: (world) => restart(world, Date.now()),
	},
	{
		name: 'RST',
		everyRounds: 1,
		noticedBy: 'event',
		overBy: 'event',
		lossless: ['repeats'],
		single: manners,
		async strike(world) {
			const struck = Date.now();
			for (const { proxy } of world.lines) {
				proxy.each((link) => {
					link.reset();
				});
			}
			await world.untilReopened(struck);
			return allAt(world, struck);
		},
	},
	{
		name: 'black hole, in each phase of the heartbeat',
		noticedWithinSeconds: 45,
		everyRounds: 3,
		noticedBy: 'event',
		overBy: 'event',
		lossless: ['repeats'],
		single: manners,
		strike: blackHole,
	},
];

async function restart(world: World, struck: number): Promise<Map<Line, Strike>> {
	await world.station.restartService(awayMilliseconds);
	const healed = Date.now();
	await world.untilReopened(healed);
	return allAt(world, struck, healed);
}

/** Blocks one link after another permanently. New connections work. */
async function blackHole(world: World): Promise<Map<Line, Strike>> {
	const strikes = new Map<Line, Strike>();
	const holes: Link[] = [];
	for (const line of world.lines) {
		const struck = Date.now();
		line.proxy.each((link) => {
			link.weather = { kind: 'blackHole' };
			holes.push(link);
		});
		strikes.set(line, { struck, healed: struck });
		await pause(heartbeatMilliseconds / world.lines.length);
	}
	const isBack = ([{ openings }, { struck }]: [Line, Strike]) => openings.some((at) => at >= struck);
	await until('a new channel of every session', () => [...strikes].every(isBack));
	await pause(100);
	// The server's ends, which no byte will ever reach.
	for (const hole of holes) hole.forget();
	return strikes;
}

function refuse(world: World, times: number): number {
	const struck = Date.now();
	for (const line of world.lines) line.refusals = times;
	world.station.service.closeChannels(1001);
	return struck;
}

/** Only the slow lane would try again. The user, who gets a failed execution, does not wait for it. */
async function refuseForGood(world: World): Promise<Map<Line, Strike>> {
	const { n8n, probe } = world.station;
	const newest = probe.newest();
	const struck = refuse(world, 3);
	const told = () => new Set(probe.failed(newest).map(({ workflowId }) => workflowId));
	await until('a failed execution of every workflow', () => told().size === world.lines.length);
	const strikes = new Map<Line, Strike>();
	for (const line of world.lines) {
		if (line.workflow === undefined) continue;
		// The key is valid again, even if a single refusal was enough.
		line.refusals = 0;
		strikes.set(line, { struck, healed: Date.now() });
		await n8n.api.deactivate(line.workflow);
		await n8n.api.activate(line.workflow);
	}
	return strikes;
}
