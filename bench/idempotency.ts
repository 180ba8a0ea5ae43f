// Runs operations with idempotency keys in processes that are killed at random points, then repeats them with
// the same keys in two processes at once. Counts what exists twice afterwards, or not at all. Rows have no key of
// their own: they are written with Match Columns.
// node bench/idempotency.ts [runs] [seed] [milliseconds until Gmail lists a mail]
import { setTimeout as sleep } from 'node:timers/promises';

import { startGoogle } from '../dev/google/server.ts';
import { Workers, type Answer, type Run, type Worker } from './keyed/workers.ts';

const runs = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
const indexDelayMilliseconds = Number(process.argv[4] ?? 0);
const latencyMilliseconds = 20;
/** Runs at once in one process that is killed. */
const runsAtOnce = 20;
const documentsAppendedTo = 50;
/** Larger than what is uploaded in one request. */
const largeBytes = 6 * 1024 * 1024;

/** Seeded, so that every run uses the same numbers. */
let state = seed;
function random(): number {
	state = (state * 1664525 + 1013904223) % 2 ** 32;
	return state / 2 ** 32;
}

const google = await startGoogle({ latencyMilliseconds, keepContent: false });
google.gmail.indexDelayMilliseconds = indexDelayMilliseconds;
google.tokens.issue({ token: 'bench' });
const documents = Array.from({ length: documentsAppendedTo }, (_, number) =>
	google.docs.seed({ title: `Log ${number}` }),
);

const table = google.sheets.seed({
	title: 'Orders',
	tabs: [{ title: 'Sheet1', rows: [['Order', 'Text']] }],
});

interface What extends Pick<Run, 'resource' | 'operation'> {
	given(own: number): Record<string, unknown>;
	/** Counts how many copies of the run's result exist. */
	count(own: number): number;
	/** Whether the operation has an idempotency key. Default true. */
	readonly hasKey?: boolean;
}

const upload = { resource: 'file', operation: 'upload' } as const;
const named = (name: string) =>
	google.files.listAll().filter((file) => file.name === name && !file.trashed);
const occurrences = (text: string, part: string) => text.split(part).length - 1;
const documentOf = (own: number) => documents[own % documentsAppendedTo] ?? '';

const whats: Readonly<Record<string, What>> = {
	upload: {
		...upload,
		given: (own) => ({
			contentSource: 'text',
			name: `upload ${own}.txt`,
			content: `text ${own}`,
		}),
		count: (own) => named(`upload ${own}.txt`).length,
	},
	'upload that is converted': {
		...upload,
		given: (own) => ({
			contentSource: 'text',
			name: `converted ${own}.md`,
			content: `# ${own}`,
			convertTo: 'document',
		}),
		count: (own) => named(`converted ${own}.md`).length + named(`converted ${own}`).length,
	},
	'document create': {
		resource: 'document',
		operation: 'create',
		given: (own) => ({ title: `document ${own}`, content: `content ${own}` }),
		count: (own) => {
			const made = named(`document ${own}`);
			const text = made.map(({ id }) => google.docs.text(id)).join('');
			return Math.max(made.length, occurrences(text, 'content'));
		},
	},
	'document append': {
		resource: 'document',
		operation: 'append',
		given: (own) => ({ documentId: documentOf(own), content: `line ${own}.` }),
		count: (own) => occurrences(google.docs.text(documentOf(own)), `line ${own}.`),
	},
	'spreadsheet create': {
		resource: 'spreadsheet',
		operation: 'create',
		given: (own) => ({ title: `spreadsheet ${own}`, values: [[own]] }),
		count: (own) => named(`spreadsheet ${own}`).length,
	},
	'upload in parts': {
		...upload,
		given: (own) => ({
			...{ contentSource: 'text', name: `large ${own}.txt` },
			content: `${own} `.padEnd(largeBytes, 'x'),
		}),
		count: (own) => named(`large ${own}.txt`).length,
	},
	'row with match columns': {
		resource: 'spreadsheet',
		operation: 'write',
		hasKey: false,
		given: (own) => ({
			spreadsheetId: table,
			tab: 'Sheet1',
			valuesSource: 'columns',
			matchColumns: 'Order',
			columns: { mappingMode: 'defineBelow', value: { Order: `order-${own}`, Text: 'Hi' } },
		}),
		count: (own) =>
			google.sheets.values(table, 'Sheet1!A:A').filter(([key]) => key === `order-${own}`)
				.length,
	},
	'mail send': {
		resource: 'mail',
		operation: 'send',
		given: (own) => ({ to: 'ann@example.com', subject: `mail ${own}`, body: 'Hi' }),
		count: (own) =>
			google.gmail.sent.filter(({ raw }) => raw.includes(`Subject: mail ${own}\r\n`)).length,
	},
};
const kinds = Object.keys(whats);
/** Not atomic between processes at Google. */
const unsure = ['mail send', 'row with match columns'];

let asked = 0;
async function carryOut(worker: Worker, own: number): Promise<Answer | undefined> {
	const what = whatOf(own);
	const { resource, operation, hasKey = true } = what;
	const given = { ...what.given(own), ...(hasKey && { idempotencyKey: `run-${own}` }) };
	return await worker.run({ number: asked++, resource, operation, given });
}

const kindOf = (own: number) => kinds[own % kinds.length] ?? '';

function whatOf(own: number): What {
	const what = whats[kindOf(own)];
	if (!what) throw new Error('no such kind');
	return what;
}

/** Starts runs within a short period. The runs of a process that is killed end with it. */
async function begin(worker: Worker, owns: readonly number[], within: number) {
	return await Promise.all(
		owns.map(async (own) => {
			await sleep(random() * within);
			return { own, answer: await carryOut(worker, own) };
		}),
	);
}

async function killedAfter(worker: Worker, milliseconds: number): Promise<void> {
	await sleep(milliseconds);
	worker.kill();
}

/** All outcomes, by run. */
const ends = new Map<number, Answer[]>();
let killed = 0;
let errors = 0;

/** @returns the runs that have no result yet */
function note(answers: ReadonlyArray<{ own: number; answer: Answer | undefined }>): number[] {
	return answers.flatMap(({ own, answer }) => {
		if (!answer) killed++;
		else if (answer.error !== undefined) errors++;
		else ends.set(own, [...(ends.get(own) ?? []), answer]);
		return ends.has(own) ? [] : [own];
	});
}

const workers = await Workers.build(google.url);
try {
	let spare = [workers.start(), workers.start(), workers.start()];
	const fresh = async (): Promise<Worker> => {
		const [next = workers.start(), ...rest] = spare;
		spare = [...rest, workers.start()];
		return await next;
	};
	for (let first = 0; first < runs; first += runsAtOnce) {
		const owns = Array.from(
			{ length: Math.min(runsAtOnce, runs - first) },
			(_, index) => first + index,
		);
		const one = await fresh();
		const [begun] = await Promise.all([
			begin(one, owns, 150),
			killedAfter(one, 30 + random() * 350),
		]);
		note(begun);
		// Repeated by two processes at once; in half of the cases, one of them is killed too.
		const [two, three] = [await fresh(), await fresh()];
		const killing = random() < 0.5 ? [killedAfter(two, 30 + random() * 350)] : [];
		const gap = random() * 60;
		const [left, right] = await Promise.all([
			begin(two, owns, 20),
			sleep(gap).then(async () => await begin(three, owns, 20)),
			...killing,
		]);
		let rest = [...new Set([...note(left), ...note(right)])].filter((own) => !ends.has(own));
		for (let tries = 0; rest.length > 0 && tries < 20; tries++)
			rest = note(await begin(three, rest, 20));
		if (rest.length > 0) throw new Error(`no end of ${rest.map((own) => kindOf(own)).join()}`);
		two.stop();
		three.stop();
	}
	for (const worker of await Promise.all(spare)) worker.stop();

	console.log(
		`${runs} runs, seed ${seed}, mails listed after ${indexDelayMilliseconds} ms: ${killed} killed, ${errors} ended with an error and were run again\n`,
	);
	let wrong = 0;
	for (const kind of kinds) {
		const owns = Array.from({ length: runs }, (_, own) => own).filter(
			(own) => kindOf(own) === kind,
		);
		const counts = owns.map((own) => whatOf(own).count(own));
		const twice = counts.filter((count) => count > 1).length;
		const lost = counts.filter((count) => count === 0).length;
		const ids = owns.map((own) => new Set((ends.get(own) ?? []).map(idOf)).size);
		const atOdds = ids.filter((size) => size > 1).length;
		wrong += lost;
		if (!unsure.includes(kind)) wrong += twice + atOdds;
		console.log(
			`${kind}: ${owns.length} runs, ${twice} there twice (${((100 * twice) / owns.length).toFixed(1)} %), ${lost} lost, ${atOdds} with results that name different things`,
		);
	}
	if (wrong > 0) process.exitCode = 1;
} finally {
	await google.close();
	workers.remove();
}

function idOf({ result = '{}' }: Answer): unknown {
	const { id, documentId, spreadsheetId } = JSON.parse(result) as Record<string, unknown>;
	return id ?? documentId ?? spreadsheetId;
}
