// Memory of n8n under bursts of messages, compared with one that has just started, and what a published trigger
// costs while no messages arrive, compared with a trigger that only holds its socket.
import { pause } from '../n8n.ts';
import { reportRatio, row, say } from '../report.ts';
import { Inspector } from './probe.ts';
import {
	drive,
	type Engine,
	engines,
	readEventLoopDelay,
	type Station,
	type Stored,
	withStation,
} from './station.ts';

const batchSize = 100;
const small = 10_000;
const large = 100_000;

export async function bursts(): Promise<void> {
	say(`Memory of n8n under a burst, in MiB above what it was before (batches of ${batchSize})`);
	// Without a limit, the large burst takes gigabytes.
	const emitOnly = await withStation(async (station) => {
		return await suffer(station, 'emit only', await station.emitOnly('burst', batchSize), [small]);
	});
	for (const engine of Object.keys(engines) as Engine[]) {
		say(`\n${engine}`);
		const use = async (station: Station) => {
			const workflow = await station.ours('burst', { batchSize });
			return await suffer(station, 'Agent Session Trigger', workflow, [small, large]);
		};
		const peak = await withStation(use, {}, engine);
		// How soon V8 collects what is left over depends on the machine, and so does the figure alone.
		reportRatio(`extra memory, ${large} messages / emit only with ${small}`, peak / emitOnly, { atMost: 1 });
	}
}

/** @returns the extra memory of the last burst */
async function suffer(
	station: Station,
	name: string,
	workflow: Stored,
	counts: readonly number[],
): Promise<number> {
	await drive(station, workflow, small, batchSize);
	let extra = NaN;
	for (const count of counts) {
		const before = station.probe.memory().now;
		station.probe.resetPeak();
		// n8n measures since the last request, so this resets it.
		await readEventLoopDelay(station.n8n.url);
		await drive(station, workflow, count, batchSize);
		const { peak, now } = station.probe.memory();
		const delay = await readEventLoopDelay(station.n8n.url);
		extra = peak - before;
		row(
			`${name}, ${count}`,
			`before ${before.toFixed(0)}, peak +${extra.toFixed(0)}, after +${(now - before).toFixed(0)}`,
			`event loop p99 ${delay.toFixed(0)} ms`,
		);
	}
	const inspector = await Inspector.open(station.n8n);
	const { heapUsed } = await inspector.memory();
	say(`  heap of n8n that is left after garbage collection: ${(heapUsed / 1024 ** 2).toFixed(0)} MiB`);
	inspector.close();
	return extra;
}

const workflows = 20;
/** Of one node, which opens ten channels a second. */
const sessions = 250;
/** Time until n8n has closed the connections of our requests. */
const quietSeconds = 6;
const watchedSeconds = 10;
/** Before that, n8n is still busy with what was published, and a channel is not yet considered stable. */
const settlingSeconds = 22;

interface Kind {
	readonly name: string;
	readonly publish: (station: Station, n: number) => Promise<Stored>;
}

const kinds: readonly Kind[] = [
	{ name: 'emit only', publish: (station, n) => station.emitOnly(`emit only ${n}`) },
	{ name: 'Agent Session Trigger', publish: (station, n) => station.ours(`ours ${n}`) },
];

interface Held {
	readonly heapKibibytes: number;
	readonly residentKibibytes: number;
	readonly timers: number;
	readonly sockets: number;
}

export async function idle(): Promise<void> {
	await withStation(async (station) => {
		say(`A published trigger while nothing comes (the mean of ${workflows}; after garbage collection)`);
		// What the first ones load must not count as a cost of the others.
		for (const { publish } of kinds) await takeOff(station, [await publish(station, -1)]);
		const inspector = await Inspector.open(station.n8n);
		for (const { name, publish } of kinds) {
			await pause(quietSeconds * 1000);
			const before = await held(inspector);
			const published = await Promise.all(
				Array.from({ length: workflows }, async (_, n) => await publish(station, n)),
			);
			const milliseconds = await processor(station);
			describe(name, before, await held(inspector), { milliseconds, count: workflows });
			await takeOff(station, published);
		}
		await manySessions(station, inspector);
		row('no trigger', used(await processor(station, quietSeconds)));
		inspector.close();
	});
}

/** One node that listens to many sessions; the mean of a session. */
async function manySessions(station: Station, inspector: Inspector): Promise<void> {
	await pause(quietSeconds * 1000);
	const before = await held(inspector);
	const sessionIds = Array.from({ length: sessions }, (_, n) => `session ${n}`);
	const published = await station.ours('many sessions', {}, sessionIds);
	const milliseconds = await processor(station);
	const after = await held(inspector);
	describe(`${sessions} sessions in one node`, before, after, { milliseconds, count: sessions });
	reportRatio('sockets of a session that listens', (after.sockets - before.sockets) / sessions, {
		atMost: 1.01,
	});
	await takeOff(station, [published]);
}

/** Processor time of all of n8n after it has settled, in milliseconds per second. */
async function processor({ probe }: Station, settling = settlingSeconds): Promise<number> {
	await pause(settling * 1000);
	const before = probe.cpuSeconds();
	await pause(watchedSeconds * 1000);
	return ((probe.cpuSeconds() - before) * 1000) / watchedSeconds;
}

async function held(inspector: Inspector): Promise<Held> {
	const { rss, heapUsed } = await inspector.memory();
	const resources = await inspector.evaluate<string[]>('process.getActiveResourcesInfo()');
	return {
		heapKibibytes: heapUsed / 1024,
		residentKibibytes: rss / 1024,
		timers: resources.filter((name) => name === 'Timeout').length,
		sockets: resources.filter((name) => name.startsWith('TCPSocket')).length,
	};
}

function describe(
	name: string,
	before: Held,
	after: Held,
	{ milliseconds, count }: { readonly milliseconds: number; readonly count: number },
): void {
	const each = (key: keyof Held, digits: number) =>
		((after[key] - before[key]) / count).toFixed(digits).padStart(6);
	row(
		name,
		`heap ${each('heapKibibytes', 1)} KiB`,
		`resident ${each('residentKibibytes', 0)} KiB`,
		`timers ${each('timers', 1)}`,
		`sockets ${each('sockets', 1)}`,
		used(milliseconds),
	);
}

const used = (milliseconds: number) => `processor of n8n ${milliseconds.toFixed(1)} ms per second`;

async function takeOff(station: Station, published: readonly Stored[]): Promise<void> {
	await Promise.all(published.map((workflow) => station.n8n.api.deactivate(workflow)));
}
