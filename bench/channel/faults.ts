// What is lost, what arrives twice, and how long it takes to notice and to recover, for each fault.
import type { Fault } from './faults/fault.ts';
import { hostFaults } from './faults/host.ts';
import { networkFaults } from './faults/network.ts';
import { describe, explain } from './faults/report.ts';
import { type Outcome, strikeOnce } from './faults/rounds.ts';
import { World } from './faults/world.ts';
import { say } from './text.ts';

export async function network(rounds: number): Promise<void> {
	await suffer(networkFaults, rounds);
}

export async function host(rounds: number): Promise<void> {
	await suffer(hostFaults, rounds);
	say(
		`
Not measured: the leader hand-over of n8n's multi-main mode. In queue mode with N8N_MULTI_MAIN_SETUP_ENABLED and without
a licence for it, n8n ends at start. In its sources a leader that steps down closes its triggers by the same method as at
a shutdown, and the next leader activates them itself: the nearest to it are SIGTERM (a gap) and the take-over (both at once).`,
	);
}

/** Round by round, so that other load on the machine does not affect one fault only. */
async function suffer(faults: readonly Fault[], rounds: number): Promise<void> {
	explain();
	const world = await World.open();
	const outcomes = new Map<Fault, Outcome[]>(faults.map((fault) => [fault, []]));
	try {
		await world.publish();
		for (let round = 1; round <= rounds; round++) {
			for (const [fault, so] of outcomes) {
				if ((round - 1) % fault.everyRounds !== 0) continue;
				so.push(await strikeOnce(world, fault, `${fault.name} ${round}`));
				if (round + fault.everyRounds > rounds) describe(fault, so);
			}
		}
	} finally {
		await world.close();
	}
}
