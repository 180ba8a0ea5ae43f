import { setTimeout as timer } from 'node:timers/promises';

export interface PaceClock {
	/** Milliseconds of a clock that never jumps. */
	now(): number;
	/** Never keeps the process alive; rejects when aborted. */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const paceClock: PaceClock = {
	now: () => performance.now(),
	sleep: async (milliseconds, signal) => {
		await timer(milliseconds, undefined, { signal, ref: false });
	},
};

export interface PaceSettings {
	readonly clock: PaceClock;
	/** Over which the service counts; milliseconds. */
	readonly minute: number;
	/** Gives 0 <= x < 1. */
	readonly random: () => number;
}

export const paceSettings: PaceSettings = { clock: paceClock, minute: 60_000, random: Math.random };
