import type { Line, Manner } from './line.ts';
import type { World } from './world.ts';

/** Milliseconds since 1970. */
export interface Strike {
	readonly struck: number;
	/** From this time on everything works again, except for what n8n has to do itself. */
	readonly healed: number;
}

export interface Fault {
	readonly name: string;
	/** It strikes in the first of this many rounds, because some faults take long. */
	readonly everyRounds: number;
	/** How noticing it is recognized: by the trigger's own event, or by a failed execution. */
	readonly noticedBy?: 'event' | 'failedExecution';
	readonly noticedWithinSeconds?: number;
	/**
	 * How its end is recognized: by the trigger's own event, a channel at the service, or the execution of
	 * what had to wait.
	 */
	readonly overBy: 'event' | 'opening' | 'execution';
	/** Servers whose messages must not be lost: what they sent last was read, or they send it again. */
	readonly lossless: readonly Manner[];
	/** Servers from which nothing may arrive twice. */
	readonly single: readonly Manner[];
	/** Nothing more may arrive for this long before messages are counted. */
	readonly quietMilliseconds?: number;
	/** Strikes, then waits until every session has its channel again. */
	strike(world: World): Promise<ReadonlyMap<Line, Strike>>;
}

/** The same times for all lines. */
export function allAt(world: World, struck: number, healed = struck): Map<Line, Strike> {
	return new Map(world.lines.map((line) => [line, { struck, healed }]));
}
