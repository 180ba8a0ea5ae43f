// The session channel in the real n8n, beside a bare `ws` client as the ceiling and beside a trigger that only calls `emit`.
// node bench/channel.ts [rounds]
import { cpus, totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import WebSocket from 'ws';

import { percentile } from './channelProbe.ts';
import { eventLoopDelay, type Station, startStation, until } from './channelStation.ts';
import { median, report, reportRatio } from './n8n.ts';

const rounds = Number(process.argv[2] ?? 5);
const say = (text: string) => {
	console.log(text);
};

/** Messages per second of a client that does nothing but parse. */
async function bareClient({ service }: Station, count: number): Promise<number> {
	const query = 'sessionId=bare&userPublicKey=0&signature=0&timestamp=1&apiKey=bench-key';
	const socket = new WebSocket(`${service.webSocketUrl}/ws?${query}`, { perMessageDeflate: false });
	let got = 0;
	socket.on('message', (data) => {
		JSON.parse((data as Buffer).toString());
		got++;
	});
	await until(() => service.openSockets('bare') === 1, 1);
	const start = performance.now();
	for (let n = 0; n < count; n++) service.send('bare', { n });
	await until(() => got === count, 1);
	const milliseconds = performance.now() - start;
	socket.terminate();
	return (count / milliseconds) * 1000;
}

/** Sends so many messages and waits for the last execution. @returns milliseconds */
async function drive(
	station: Station,
	workflow: { id: string; name: string },
	count: number,
	batch: number,
): Promise<number> {
	const before = station.probe.ended(workflow.id);
	const start = performance.now();
	for (let n = 0; n < count; n++) station.service.send(workflow.name, { n });
	// At the start batches are smaller than they may be, so that the number of executions is not known: the messages count.
	if (batch === 1) await until(() => station.probe.ended(workflow.id) - before >= count);
	else await untilQuiet(station, workflow.id, before + count / batch);
	return performance.now() - start;
}

/** At least so many executions have ended, and no further one ends for 300 ms. */
async function untilQuiet({ probe }: Station, workflowId: string, atLeast: number): Promise<void> {
	let last = { ended: 0, at: performance.now() };
	await until(() => {
		const ended = probe.ended(workflowId);
		if (ended !== last.ended) last = { ended, at: performance.now() };
		return ended >= atLeast && performance.now() - last.at > quietMilliseconds;
	});
}

const quietMilliseconds = 300;

async function beside(station: Station): Promise<void> {
	say(
		`\nOne message per execution, beside a trigger that only calls emit (${rounds} rounds of 300, interleaved)`,
	);
	const emitOnly = await station.emitOnly('emit only');
	const ours = await station.ours('ours');
	const times = { emitOnly: [] as number[], ours: [] as number[] };
	const costs = { emitOnly: [] as number[], ours: [] as number[] };
	for (let round = 0; round <= rounds; round++) {
		for (const [name, workflow] of [
			['emitOnly', emitOnly],
			['ours', ours],
		] as const) {
			const cpuBefore = station.probe.cpuSeconds();
			const milliseconds = await drive(station, workflow, 300, 1);
			if (round === 0) continue;
			times[name].push(milliseconds);
			costs[name].push((station.probe.cpuSeconds() - cpuBefore) * 1000);
		}
	}
	report('A trigger that only calls emit', times.emitOnly, 'ms');
	report('Agent Session Trigger, batchSize 1', times.ours, 'ms');
	say(`${'the ratio of the two'.padEnd(64)} ${(median(times.ours) / median(times.emitOnly)).toFixed(3)}`);
	report('Processor time of n8n, emit only', costs.emitOnly, 'ms');
	report('Processor time of n8n, batchSize 1', costs.ours, 'ms');
	// What it costs, whatever else the machine does at that moment.
	reportRatio('batchSize 1 / emit only', median(costs.ours) / median(costs.emitOnly), { atMost: 1.1 });
	for (const workflow of [emitOnly, ours]) await station.n8n.api.deactivate(workflow);
}

async function matrix(station: Station): Promise<void> {
	say('\nSustained, and the time from the socket to the start and the end of the execution');
	for (const maxConcurrentExecutions of [1, 10, 100_000]) {
		for (const batchSize of [1, 10, 100]) {
			const width = maxConcurrentExecutions > 10 ? 'unlimited' : String(maxConcurrentExecutions);
			const name = `concurrency ${width} × batch ${batchSize}`;
			const workflow = await station.ours(name, { maxConcurrentExecutions, batchSize });
			const count = batchSize === 1 ? 500 : batchSize * 200;
			await drive(station, workflow, batchSize * 10, batchSize);
			const milliseconds =
				(await drive(station, workflow, count, batchSize)) - (batchSize === 1 ? 0 : quietMilliseconds);
			const rate = (count / milliseconds) * 1000;
			const { starts, ends } = station.probe.delays(workflow.id);
			const shown = [starts, ends].map(
				(all) => `${percentile(all, 0.5).toFixed(0)}/${percentile(all, 0.99).toFixed(0)}`,
			);
			say(
				`${name.padEnd(32)} ${rate.toFixed(0).padStart(7)} msg/s   start p50/p99 ${shown[0] ?? ''} ms   end ${shown[1] ?? ''} ms`,
			);
			if (batchSize === 100 && width === '10')
				reportRatio('batchSize 100, messages per second', rate, { atLeast: 8000 });
			await station.n8n.api.deactivate(workflow);
		}
	}
}

async function bursts(station: Station): Promise<void> {
	say('\nMemory of n8n under a burst, in MiB above its memory before (batchSize 100)');
	const workflow = await station.ours('burst', { batchSize: 100 });
	await drive(station, workflow, 10_000, 100);
	for (const count of [10_000, 100_000]) {
		const before = station.probe.memory().now;
		station.probe.resetPeak();
		await drive(station, workflow, count, 100);
		const { peak, now } = station.probe.memory();
		const delay = await eventLoopDelay(station.n8n.url);
		say(
			`${count} messages: before ${before.toFixed(0)}, peak +${(peak - before).toFixed(0)}, after +${(now - before).toFixed(0)}; event loop p99 ${delay.toFixed(0)} ms`,
		);
		if (count === 100_000)
			reportRatio('extra memory of 100,000 messages, MiB', peak - before, { atMost: 200 });
	}
	await station.n8n.api.deactivate(workflow);
}

async function reconnects(station: Station): Promise<void> {
	say('\n50 sessions of one node, whose service restarts after 5 s');
	const sessions = Array.from({ length: 50 }, (_, n) => `r${n}`);
	const before = station.probe.memory().now;
	const workflow = await station.ours('fifty', {}, sessions.join(','));
	await until(() => station.service.openSockets() === 50);
	const cpu = station.probe.cpuSeconds();
	await new Promise((resolve) => setTimeout(resolve, 5000));
	const idle = ((station.probe.cpuSeconds() - cpu) / 5) * 1000;
	say(
		`idle: +${(station.probe.memory().now - before).toFixed(1)} MiB, and n8n as a whole uses ${idle.toFixed(1)} ms of processor per second`,
	);
	await station.restartService(5000);
	const start = performance.now();
	await until(() => station.service.openSockets() === 50);
	const seconds = (performance.now() - start) / 1000;
	reportRatio('all 50 back, seconds', seconds, { atMost: 90 });
	const at = station.service.upgrades.map(({ receivedAt }) => receivedAt).sort((a, b) => a - b);
	const most = Math.max(...at.map((first) => at.filter((one) => one >= first && one < first + 100).length));
	say(`${at.length} attempts after the restart`);
	reportRatio('most attempts in any 100 ms', most, { atMost: 10 });
	await station.n8n.api.deactivate(workflow);
}

async function cycles(station: Station): Promise<void> {
	const workflow = await station.ours('cycles');
	for (let n = 0; n < 100; n++) {
		await station.n8n.api.deactivate(workflow);
		await station.n8n.api.activate(workflow);
	}
	await station.n8n.api.deactivate(workflow);
	await new Promise((resolve) => setTimeout(resolve, 1000));
	say('');
	reportRatio('open sockets after 100 times on and off', station.service.openSockets(), { atMost: 0 });
}

async function main(): Promise<void> {
	const station = await startStation();
	try {
		const gibibytes = (totalmem() / 1024 ** 3).toFixed(0);
		say(
			`n8n 2.41.1, SQLite, Node ${process.versions.node}, ${cpus().length} cores, ${gibibytes} GiB; every execution saved\n`,
		);
		say(
			`A bare ws client: ${(await bareClient(station, 200_000)).toFixed(0)} msg/s (the ceiling; it starts nothing)`,
		);
		// First, on the memory of an n8n that has just started.
		await bursts(station);
		await beside(station);
		await matrix(station);
		await reconnects(station);
		await cycles(station);
	} finally {
		await station.remove();
	}
}

await main();
