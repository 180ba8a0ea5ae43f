import { setTimeout as pause } from 'node:timers/promises';

import type { Inspector } from '../channel/inspector.ts';

/** n8n closes idle connections after 5 s, and retries of faults end before that. */
const quietMilliseconds = 10_000;

export interface Sample {
	/** After garbage collection. */
	readonly heapKibibytes: number;
	/** Sockets, timers, files: everything that keeps a process alive. */
	readonly handles: number;
}

export async function sampleOf(inspector: Inspector): Promise<Sample> {
	await pause(quietMilliseconds);
	const { heapUsed } = await inspector.memory();
	const handles = await inspector.evaluate<number>('process.getActiveResourcesInfo().length');
	return { heapKibibytes: heapUsed / 1024, handles };
}

/** One turn of both kinds of traffic: samples before, after the control's and after ours. */
export interface Turn {
	readonly before: Sample;
	readonly afterControl: Sample;
	readonly afterOurs: Sample;
	readonly executions: { readonly control: number; readonly ours: number };
}

export interface Verdict {
	/** Growth of the heap during our traffic minus that during the control's, per execution. */
	readonly netKibibytesPerExecution: number;
	/** The same as it may be: what no leak exceeds, with room for noise in a short run. */
	readonly limitKibibytesPerExecution: number;
	/** The fewest handles in the later half of the turns minus the fewest in the earlier half. */
	readonly moreHandles: number;
}

const noiseKibibytes = 3 * 1024;

/** Judges the turns after the first, in which both kinds load what they need. */
export function verdictOf(turns: readonly Turn[]): Verdict {
	const judged = turns.slice(1);
	const half = Math.ceil(judged.length / 2);
	const sum = (value: (turn: Turn) => number) => judged.reduce((total, turn) => total + value(turn), 0);
	const ours = sum(({ afterControl, afterOurs }) => afterOurs.heapKibibytes - afterControl.heapKibibytes);
	const control = sum(({ before, afterControl }) => afterControl.heapKibibytes - before.heapKibibytes);
	const ourExecutions = sum(({ executions }) => executions.ours);
	const controlExecutions = sum(({ executions }) => executions.control);
	return {
		netKibibytesPerExecution: ours / ourExecutions - control / controlExecutions,
		limitKibibytesPerExecution: Math.max(1, noiseKibibytes / ourExecutions),
		moreHandles: fewestHandles(judged.slice(half)) - fewestHandles(judged.slice(0, half)),
	};
}

/** Timers and connections come and go: what leaks is still there when the fewest are. */
function fewestHandles(turns: readonly Turn[]): number {
	return Math.min(
		...turns.flatMap(({ before, afterControl, afterOurs }) =>
			[before, afterControl, afterOurs].map(({ handles }) => handles),
		),
	);
}
