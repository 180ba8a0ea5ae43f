import { setTimeout as timer } from 'node:timers/promises';

export interface PaceClock {
	/** Milliseconds, from a clock that never jumps. */
	now(): number;
	/** Must not keep the process alive. Rejects when aborted. */
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
	/** Period over which the service counts, in milliseconds. */
	readonly minute: number;
	/** Returns 0 <= x < 1. */
	readonly random: () => number;
}

export const paceSettings: PaceSettings = { clock: paceClock, minute: 60_000, random: Math.random };
