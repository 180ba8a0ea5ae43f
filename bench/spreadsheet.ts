// 1,000 rows appended to a sheet, and 100,000 cells read as rows, compared with n8n's own Google Sheets node
// in the same n8n.
// node bench/spreadsheet.ts [rounds]
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';

import { benchN8n, median, nodeMilliseconds, report, reportRatio } from './n8n.ts';
import { Google } from './spreadsheetServer.ts';
import {
	appendedRows,
	columns,
	variantsOf,
	type N8n,
	type Stored,
	type Variant,
} from './spreadsheetVariants.ts';

const rounds = Number(process.argv[2] ?? 15);
const warmRounds = 5;
const latencyMilliseconds = 50;
const sheetRows = 10_000;
const largeSheetRows = 100_000;
const MiB = 1024 * 1024;

/** @returns milliseconds for which the node ran */
async function run(n8n: N8n, stored: Stored): Promise<number> {
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'));
	if (execution.status !== 'success') {
		const { message, description } = execution.resultData.error ?? { message: execution.status };
		throw new Error(`${stored.name}: ${message} ${description ?? ''}`);
	}
	return nodeMilliseconds(execution.resultData.runData, 'Step');
}

async function memory(pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** The most that a run adds to n8n's memory, in MiB. */
async function addedMemory(n8n: N8n, stored: Stored): Promise<number> {
	// Resets the peak to the current usage.
	await writeFile(`/proc/${n8n.pid}/clear_refs`, '5');
	const before = await memory(n8n.pid, 'VmRSS');
	await run(n8n, stored);
	return ((await memory(n8n.pid, 'VmHWM')) - before) / MiB;
}

/** Runs some warm-up rounds for the code of both nodes, then the measured ones. All variants take turns. */
async function measure(
	n8n: N8n,
	google: Google,
	variants: readonly Variant[],
	rows: number,
	warmUp = warmRounds,
): Promise<void> {
	for (let round = -warmUp; round < rounds; round++) {
		for (const variant of variants) {
			await google.seed({ rows, columns });
			const milliseconds = await run(n8n, variant.stored);
			const counted = await google.counted();
			variant.requests = counted.methods.length;
			const appends = !variant.stored.name.startsWith('read');
			if (counted.rows !== rows + 1 + (appends ? appendedRows : 0)) {
				throw new Error(`${variant.stored.name}: the sheet has ${counted.rows} rows`);
			}
			if (round >= 0) variant.milliseconds.push(milliseconds);
		}
	}
}

function show({ stored, milliseconds, requests }: Variant): void {
	report(`${stored.name} (requests: ${requests})`, milliseconds, 'ms');
}

async function main(): Promise<void> {
	const google = await Google.start(latencyMilliseconds);
	const n8n = await benchN8n({
		env: {
			GOOGLE_STAND_IN: google.url,
			NODE_OPTIONS: `--require=${path.join(import.meta.dirname, 'redirectGoogle.cjs')}`,
		},
	});
	try {
		console.log(
			`n8n 2.41.1, Node ${process.versions.node}, ${cpus().length} cores; ${latencyMilliseconds} ms latency, ${columns} columns, ${rounds} rounds\n`,
		);
		const { theirs, oneItem, items, expressions, theirRead, read } = await variantsOf(n8n);
		console.log(`Appending ${appendedRows} rows to a sheet of ${sheetRows}`);
		const appends = [theirs, oneItem, items, expressions];
		await measure(n8n, google, appends, sheetRows);
		appends.forEach(show);
		const fast = (variant: Variant) => median(theirs.milliseconds) / median(variant.milliseconds);
		const limit = theirs.requests / oneItem.requests;
		console.log(
			`${"speed of one item / n8n's node".padEnd(64)} ${fast(oneItem).toFixed(3)} (limit of the round trips: ${limit})`,
		);
		// The rest is what each node does itself, which depends on the machine.
		reportRatio("speed of one item / n8n's node, by that limit", fast(oneItem) / limit, { atLeast: 0.9 });
		reportRatio("speed of 1,000 items / n8n's node", fast(items), { atLeast: 1.5 });
		reportRatio('requests of one item', oneItem.requests, { atMost: 1 });
		reportRatio('requests of 1,000 items', items.requests, { atMost: 2 });
		reportRatio('requests of 1,000 items with an expression each', expressions.requests, { atMost: 1 });

		console.log(`\nThe same, to a sheet of ${largeSheetRows}`);
		const large = [theirs, oneItem, items].map((variant) => ({ ...variant, milliseconds: [], requests: 0 }));
		// The code is warm, the stand-in has not yet had so large a sheet.
		await measure(n8n, google, large, largeSheetRows, 1);
		large.forEach(show);
		const [, largeOne, largeItems] = large;
		if (!largeOne || !largeItems) throw new Error('not measured');
		const grown = (to: Variant, from: Variant) => median(to.milliseconds) / median(from.milliseconds);
		reportRatio('time of one item, large sheet / sheet', grown(largeOne, oneItem), { atMost: 1.2 });
		reportRatio('time of 1,000 items, large sheet / sheet', grown(largeItems, items), { atMost: 1.2 });
		await compareMemory(n8n, google, { theirs, items });

		console.log(`\nReading ${sheetRows * columns} cells as rows`);
		await measure(n8n, google, [theirRead, read], sheetRows - 1);
		[theirRead, read].forEach(show);
		reportRatio("time of reading / n8n's node", grown(read, theirRead), { atMost: 1.2 });
	} finally {
		await n8n.remove();
		google.stop();
	}
}

/**
 * Comes last, because what n8n keeps of earlier runs counts too. The minimum of several runs is what the work
 * itself takes.
 */
async function compareMemory(
	n8n: N8n,
	google: Google,
	{ theirs, items }: { theirs: Variant; items: Variant },
): Promise<void> {
	const least: Record<string, number> = {};
	for (const rows of [1_000, largeSheetRows]) {
		for (const { stored } of [items, theirs]) {
			const added: number[] = [];
			for (let round = 0; round < rounds; round++) {
				await google.seed({ rows, columns });
				added.push(await addedMemory(n8n, stored));
			}
			report(`added memory, ${stored.name}, sheet of ${rows}`, added, 'MiB');
			least[`${stored.name} ${rows}`] = median(added);
		}
	}
	const growth =
		(least[`${items.stored.name} ${largeSheetRows}`] ?? NaN) - (least[`${items.stored.name} 1000`] ?? NaN);
	// The sheet of 100,000 rows is 20 MB as JSON alone.
	reportRatio('growth of added memory with the sheet, MiB', growth, { atMost: 8 });
}

await main();
