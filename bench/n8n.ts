import { rmSync } from 'node:fs';
import path from 'node:path';

import type { NodeRun } from '../dev/n8n/rest.ts';
import { type RestartableN8n, startRestartableN8n } from '../dev/n8n/restartable.ts';
import type { N8nOptions } from '../dev/n8n/server.ts';
import { Template } from '../dev/n8n/template.ts';

let template: Promise<Template> | undefined;

/** The real n8n with the current state of the package, on its own user folder. */
export async function benchN8n(options: Partial<N8nOptions> = {}): Promise<RestartableN8n> {
	const n8n = await startRestartableN8n({ ...options, userFolder: await benchFolder() });
	running.add(n8n);
	return n8n;
}

const running = new Set<RestartableN8n>();

// Without this, an n8n would outlive a benchmark that is interrupted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
	process.once(signal, () => {
		void Promise.all([...running].map((n8n) => n8n.kill())).then(() => process.exit(1));
	});
}

/** A user folder with the current state of the package, for an n8n that the benchmark starts itself. */
export async function benchFolder(): Promise<string> {
	template ??= preparedTemplate();
	return await (await template).copy();
}

/** Created once for everything that this process starts, the benchmarks of a whole run included. */
export async function preparedTemplate(): Promise<Template> {
	const shared = process.env.BENCH_TEMPLATE;
	if (shared !== undefined) return new Template(shared);
	const name = `bench-${process.pid}`;
	const fresh = new Template(name);
	process.once('exit', () => {
		rmSync(path.dirname(fresh.folder), { recursive: true, force: true });
	});
	await fresh.prepare();
	process.env.BENCH_TEMPLATE = name;
	return fresh;
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** The mean of the middle half: finer than the median of whole milliseconds, and as little moved by what is rare. */
export function middleMean(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const cut = Math.floor(sorted.length / 4);
	const middle = sorted.slice(cut, sorted.length - cut);
	return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Milliseconds for which the node ran. */
export function nodeMilliseconds(runs: Readonly<Record<string, NodeRun[]>>, name: string): number {
	return runs[name]?.at(-1)?.executionTime ?? NaN;
}

/** One line of a benchmark's table. */
export function report(name: string, figures: readonly number[], unit: string): void {
	const [least, most] = [Math.min(...figures), Math.max(...figures)];
	console.log(
		`${name.padEnd(64)} median ${round(median(figures))} ${unit}  (${round(least)} – ${round(most)})`,
	);
}

/** A ratio and its target. If it misses the target, the process exits with 1. */
export function reportRatio(
	name: string,
	value: number,
	target: { readonly atMost?: number; readonly atLeast?: number },
): void {
	const met = value <= (target.atMost ?? Infinity) && value >= (target.atLeast ?? -Infinity);
	const wanted =
		target.atMost === undefined ? `at least ${String(target.atLeast)}` : `at most ${target.atMost}`;
	console.log(`${name.padEnd(64)} ${value.toFixed(3)}  (${wanted}: ${met ? 'met' : 'MISSED'})`);
	if (!met) process.exitCode = 1;
}

function round(value: number): string {
	return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
