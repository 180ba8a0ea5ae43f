import type { Clock } from '../../core/clock';

/**
 * Executions count as lost after this many times the longest execution so far, but not before
 * `minLostMilliseconds`.
 */
const lostFactor = 10;
const minLostMilliseconds = 30_000;
/** The same as long as no execution has ended, so that nobody knows how long they take. */
const firstLostMilliseconds = 15 * 60_000;

interface WaitActions {
	/** Whether messages wait for the end of an execution. */
	readonly isBlocked: () => boolean;
	/** Called if messages wait, and no execution has ended for far longer than executions take. */
	readonly reportLost: (count: number) => void;
}

export type ExecutionWaits = ReturnType<typeof createExecutionWaits>;

/**
 * Waits for the ends of executions. n8n never reports the end of an execution whose job is gone, as
 * after Redis has lost its data. So if messages wait while nothing ends, the executions count as
 * ended. Their messages are not started again.
 * @param freesPlaces whether a lost execution gives its place to the next one. If not, it is only
 * reported, so that the order is kept
 */
export function createExecutionWaits(
	{ isBlocked, reportLost }: WaitActions,
	clock: Clock,
	freesPlaces: boolean,
) {
	const ends = new Set<() => void>();
	let longestMilliseconds: number | undefined;
	let cancelCheck = () => {};
	let isStopped = false;

	/**
	 * Waits until the execution has ended or counts as ended.
	 * @param executionEnded never rejects, and gives false if no execution has run
	 */
	async function waitForEnd(executionEnded: Promise<boolean>, maxMilliseconds: number) {
		if (isStopped) return;
		const begunAt = clock.getMonotonicMilliseconds();
		await new Promise<void>((resolve) => {
			const end = () => {
				cancelLimit();
				ends.delete(end);
				scheduleCheck();
				resolve();
			};
			const cancelLimit = clock.callAfter(maxMilliseconds, end);
			ends.add(end);
			scheduleCheck();
			// An execution that counted as lost may end after all.
			void executionEnded.then((hasRun) => {
				const milliseconds = clock.getMonotonicMilliseconds() - begunAt;
				if (hasRun) longestMilliseconds = Math.max(longestMilliseconds ?? 0, milliseconds);
				end();
			});
		});
	}

	/** Starts the timer again, because an execution has begun or ended. */
	function scheduleCheck(): void {
		cancelCheck();
		if (ends.size > 0) cancelCheck = clock.callAfter(getPatience(longestMilliseconds), check);
	}

	function check(): void {
		if (!isBlocked()) {
			scheduleCheck();
			return;
		}
		reportLost(ends.size);
		if (freesPlaces) for (const end of ends) end();
	}

	/** Ends all waits, now and later. */
	function stop(): void {
		isStopped = true;
		for (const end of ends) end();
	}

	return { waitForEnd, stop };
}

const getPatience = (longestMilliseconds: number | undefined): number =>
	longestMilliseconds === undefined
		? firstLostMilliseconds
		: Math.max(minLostMilliseconds, lostFactor * longestMilliseconds);
