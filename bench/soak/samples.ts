import { setTimeout as pause } from 'node:timers/promises';

import type { Inspector } from '../channel/inspector.ts';
import { median } from '../n8n.ts';

/** n8n closes idle connections after 5 s, and retries of faults end before that. */
const quietMilliseconds = 10_000;

export interface Sample {
	/** After garbage collection. */
	readonly heapKibibytes: number;
	/** Sockets, timers, files: everything that keeps a process alive. */
	readonly handles: number;
	/** Executions of this kind so far. */
	readonly executions: number;
}

export async function sampleOf(inspector: Inspector, executions: number): Promise<Sample> {
	await pause(quietMilliseconds);
	const { heapUsed } = await inspector.memory();
	const handles = await inspector.evaluate<number>('process.getActiveResourcesInfo().length');
	return { heapKibibytes: heapUsed / 1024, handles, executions };
}

export interface Verdict {
	/** Growth of the heap with our executions minus that with the control's, per execution. */
	readonly netKibibytesPerExecution: number;
	/** The same as it may be: what no leak exceeds, with room for noise in a short run. */
	readonly limitKibibytesPerExecution: number;
	/** The fewest handles in the later half of our turns minus the fewest in the earlier half. */
	readonly moreHandles: number;
}

const noiseKibibytes = 2 * 1024;

/** @param ours after each turn, at least two; so is `control` */
export function verdictOf({
	ours,
	control,
}: Readonly<Record<'ours' | 'control', readonly Sample[]>>): Verdict {
	const executions = (ours.at(-1)?.executions ?? 0) - (ours[0]?.executions ?? 0);
	const half = Math.ceil(ours.length / 2);
	return {
		netKibibytesPerExecution: slopeOf(ours) - slopeOf(control),
		limitKibibytesPerExecution: Math.max(1, noiseKibibytes / executions),
		moreHandles: fewestHandles(ours.slice(half)) - fewestHandles(ours.slice(0, half)),
	};
}

/** Kibibytes per execution: the median of the slopes between all pairs, which a few odd samples do not move. */
function slopeOf(samples: readonly Sample[]): number {
	const slopes = samples.flatMap((earlier, n) =>
		samples
			.slice(n + 1)
			.map(
				(later) => (later.heapKibibytes - earlier.heapKibibytes) / (later.executions - earlier.executions),
			),
	);
	return median(slopes);
}

/** Timers and connections come and go: what leaks is still there when the fewest are. */
const fewestHandles = (samples: readonly Sample[]) => Math.min(...samples.map(({ handles }) => handles));
