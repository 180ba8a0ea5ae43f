// Faults of n8n itself and of its database.
import { DatabaseSync } from 'node:sqlite';

import type { Stored } from '../station.ts';
import { pause, until } from '../waiting.ts';
import { allAt, type Fault, type Strike } from './fault.ts';
import { type Line, manners } from './line.ts';
import type { World } from './world.ts';

const stallMilliseconds = 5000;
const overlapMilliseconds = 3000;

export const hostFaults: readonly Fault[] = [
	{
		name: 'SIGTERM and restart of n8n',
		everyRounds: 2,
		overBy: 'opening',
		lossless: manners,
		single: manners,
		async strike(world) {
			const struck = Date.now();
			await world.station.n8n.stop();
			const healed = Date.now();
			await world.station.n8n.restart();
			await world.untilReopened(healed);
			return allAt(world, struck, healed);
		},
	},
	{
		name: 'published again under traffic',
		everyRounds: 2,
		overBy: 'opening',
		lossless: manners,
		single: manners,
		strike: publishAgain,
	},
	{
		name: 'another n8n takes over, both run for 3 s',
		everyRounds: 3,
		overBy: 'opening',
		lossless: manners,
		// Each of the two starts an execution for a message that it cannot recognize.
		single: ['repeats'],
		strike: takeOver,
	},
	{
		name: `the database is locked for ${stallMilliseconds / 1000} s`,
		everyRounds: 3,
		overBy: 'execution',
		lossless: ['repeats'],
		single: manners,
		// The trigger tries again after 2 and 4 s.
		quietMilliseconds: 9000,
		strike: lockDatabase,
	},
];

let heartbeatSeconds = 25;

/** Changes a setting, because n8n does not restart an unchanged node. */
async function publishAgain(world: World): Promise<Map<Line, Strike>> {
	const { api } = world.station.n8n;
	const strikes = new Map<Line, Strike>();
	heartbeatSeconds++;
	for (const line of world.lines) {
		if (line.workflow === undefined) continue;
		const { id, versionId, nodes } = line.workflow;
		const changed = nodes.map((node) =>
			node.name === 'Trigger' ? { ...node, parameters: withHeartbeat(node.parameters) } : node,
		);
		line.workflow = await api.request<Stored>('PATCH', `workflows/${id}`, { nodes: changed, versionId });
		const struck = Date.now();
		await api.activate(line.workflow);
		strikes.set(line, { struck, healed: struck });
		await until('a new channel', () => line.openings.some((at) => at >= struck));
	}
	return strikes;
}

function withHeartbeat(parameters: unknown): object {
	const given = parameters as { options: object };
	return { ...given, options: { ...given.options, heartbeatSeconds } };
}

/**
 * Simulates one process replacing another: the new one starts before the old one leaves, then the other way
 * round.
 */
async function takeOver(world: World): Promise<Map<Line, Strike>> {
	const { station } = world;
	const struck = Date.now();
	const second = await station.startSecond();
	try {
		await world.untilOpen(2);
		await pause(overlapMilliseconds);
		await station.n8n.stop();
		await pause(overlapMilliseconds);
		await station.n8n.restart();
		await world.untilOpen(2);
		await pause(overlapMilliseconds);
	} finally {
		await second.remove();
	}
	return allAt(world, struck);
}

async function lockDatabase(world: World): Promise<Map<Line, Strike>> {
	const database = new DatabaseSync(world.station.databaseFile);
	database.exec('PRAGMA busy_timeout = 10000');
	database.exec('BEGIN EXCLUSIVE');
	const struck = Date.now();
	try {
		await pause(stallMilliseconds);
	} finally {
		database.exec('ROLLBACK');
		database.close();
	}
	return allAt(world, struck, Date.now());
}
