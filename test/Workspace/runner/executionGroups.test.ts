// Executions that wait for their turn at the same table go together; each learns what became of its own rows.
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import type { GoogleServer } from '../../../dev/google/server';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { LockRests } from '../lockRests';
import { createNodeContext, token } from '../runNode';
import { useGoogle } from '../standIn';
import { untilWaiting, waitTogether } from '../waitTogether';

let google: GoogleServer;
let spreadsheetId = '';
useGoogle((server) => (google = server));
const rests = new LockRests();

const seed = (rows: unknown[][]) =>
	google.sheets.seed({ title: 'Book', tabs: [{ title: 'Sheet1', rows }] });

beforeEach(() => {
	spreadsheetId = seed([['Id', 'Name']]);
});

interface Run {
	readonly rows: IDataObject[];
	readonly parameters?: IDataObject;
	readonly signal?: AbortSignal;
	readonly continues?: boolean;
	readonly credential?: IDataObject;
	/** Default: another one for each run. */
	readonly executionId?: string;
}

/** What a run ends with: its items, or the error that stopped it. */
interface End {
	readonly items: INodeExecutionData[];
	readonly error?: NodeApiError;
	readonly hints: string[];
	readonly logs: string[];
}

const update = { operation: 'write', writeMode: 'updateOrAdd', matchColumns: ['Id'] };

const tabOf = (value: string) => ({ tab: { __rl: true, mode: 'name', value } });
const append = {
	...{
		resource: 'spreadsheet',
		operation: 'append',
		...tabOf('Sheet1'),
		valuesSource: 'columns',
	},
	...{ columns: { mappingMode: 'autoMapInputData', value: null }, options: {} },
};
const workspaceOAuth2Api = { id: 'shared', name: 'Shared' };

function start({ rows, parameters, continues, ...run }: Run): Promise<End> {
	const hints: string[] = [];
	const logs: string[] = [];
	const target = { spreadsheetId: { __rl: true, mode: 'id', value: spreadsheetId } };
	const onError = continues ? ('continueRegularOutput' as const) : undefined;
	const context = createNodeContext({
		...{ url: google.url, executionId: randomUUID(), ...run },
		parameters: { ...append, ...target, ...parameters },
		items: rows.map((json) => ({ json })),
		node: { credentials: { workspaceOAuth2Api }, onError },
	});
	context.addExecutionHints = (...added) => hints.push(...added.map(({ message }) => message));
	const info = (text: string) => logs.push(text);
	Object.defineProperty(context, 'logger', { value: { info } });
	return new Workspace().execute.call(context).then(
		([items = []]) => ({ items, hints, logs }),
		(error: unknown) => ({ items: [], error: error as NodeApiError, hints, logs }),
	);
}

async function runWaiting(
	runs: readonly Run[],
	meanwhile?: () => void,
	begin: (run: Run, at: number) => Promise<End> = start,
): Promise<End[]> {
	const starts = runs.map((run, at) => () => begin(run, at));
	return await waitTogether(spreadsheetId, starts, () => {
		expect(google.requests).toHaveLength(0);
		meanwhile?.();
	});
}

const stored = () => google.sheets.values(spreadsheetId, 'Sheet1');
const methods = () =>
	google.requests.map(({ method }) => method?.replace('sheets.spreadsheets.', ''));
const messages = (ends: readonly End[]) => ends.map(({ error }) => error?.message);
const oneRow = (id: number): Run => ({ rows: [{ Id: id, Name: `N${id}` }] });
const withOptions = (run: Run, options: IDataObject) => ({ ...run, parameters: { options } });
const ranges = (ends: readonly End[]) =>
	ends.map(({ items }) => items.map(({ json }) => json.updatedRange));

beforeAll(async () => {
	// Loads what is loaded on first use.
	google.tokens.issue({ token });
	spreadsheetId = seed([['Id', 'Name']]);
	await start(oneRow(0));
});

test('the rows of ten executions are one request, and each gets its own', async () => {
	const ends = await runWaiting(Array.from({ length: 10 }, (_, id) => oneRow(id)));
	expect(methods()).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	for (const [id, { items }] of ends.entries()) {
		const range = items[0]?.json.updatedRange as string;
		expect(google.sheets.values(spreadsheetId, range)).toEqual([[id, `N${id}`]]);
	}
	expect(ends.map(({ items }) => items[0]?.pairedItem)).toEqual(ends.map(() => ({ item: 0 })));
	expect(stored()).toHaveLength(11);
});

test('an execution that comes alone waits for nobody, and sends what a group sends', async () => {
	expect(ranges([await start(oneRow(1))])).toEqual([['Sheet1!A2:B2']]);
	expect(methods()).toEqual(['get', 'values.batchGet', 'batchUpdate']);
});

describe('a crowd', () => {
	/** The time passes only when a test says so. */
	let now = 0;
	const sentRows = () => methods().filter((method) => method === 'batchUpdate').length;

	/** Lets executions wait for the lock, and go on when all of them have come. */
	async function run(begins: ReadonlyArray<() => Promise<End>>): Promise<void> {
		if (rests.parts.length === 0) {
			await waitTogether(spreadsheetId, begins);
			return;
		}
		const running: Array<Promise<End>> = [];
		for (const begin of begins) {
			running.push(begin());
			await untilWaiting();
		}
		await rests.end();
		await Promise.all(running);
	}

	beforeEach(() => {
		now = 1_000_000;
		jest.spyOn(performance, 'now').mockImplementation(() => now);
	});

	test('whose executions come one by one goes together, too', async () => {
		const ends: Array<Promise<End>> = [];
		const come = (count: number) => {
			for (const most = Math.min(60, ends.length + count); ends.length < most;)
				ends.push(start(oneRow(ends.length)));
		};
		google.fault({
			match() {
				come(5);
				return false;
			},
		});
		come(1);
		while (rests.parts.length === 0) await turn();
		while (ends.length < 60) {
			come(1);
			await untilWaiting();
		}
		await rests.end();
		expect((await Promise.all(ends)).filter(({ error }) => error)).toEqual([]);
		expect(stored()).toHaveLength(61);
		expect(sentRows()).toBeLessThanOrEqual(4);
	});

	test.each<[string, rounds: string[], milliseconds: number, isResting: boolean, sent: number]>([
		['three', ['abc'], 0, false, 3],
		['four', ['abcd'], 0, true, 2],
		['four, and one that meets nobody', ['abcd', 'e'], 0, true, 3],
		['four in twenty seconds', ['ab', 'cd'], 11_000, false, 4],
		['two that loop', ['ab', 'ab', 'ab'], 0, false, 5],
		['six, each after the one before', ['a', 'b', 'c', 'd', 'e', 'f'], 0, false, 8],
	])(
		'is four executions, after which the lock rests, so that those who come meanwhile go together: after %s',
		async (_name, rounds, milliseconds, isResting, sent) => {
			let count = 0;
			const begin = (name: string) => () =>
				start({ ...oneRow(count++), executionId: `${name} of ${spreadsheetId}` });
			for (const names of rounds) {
				await run(Array.from(names, begin));
				now += milliseconds;
			}
			expect(rests.parts.map((part) => part.milliseconds)).toEqual(isResting ? [2000] : []);
			const next = isResting ? ['ab'] : ['a', 'b'];
			for (const names of next) await run(Array.from(names, begin));
			expect(sentRows()).toBe(sent);
			expect(stored()).toHaveLength(count + 1);
		},
	);

	const numbered = (...ids: number[]) => ids.map((id) => () => start(oneRow(id)));

	test('that lasts: the lock rests after its small groups, too', async () => {
		await run(numbered(0, 1, 2, 3));
		await run(numbered(4, 5));
		expect(rests.parts).toHaveLength(1);
		await run(numbered(6, 7));
		expect(sentRows()).toBe(3);
		expect(stored()).toHaveLength(9);
	});

	test('whose executions keep coming: the lock rests longer, but no more than seven seconds', async () => {
		await run(numbered(0, 1, 2, 3));
		const lengths: number[] = [];
		const ends: Array<Promise<End>> = [];
		for (let id = 4; id < 10; id++) {
			ends.push(start(oneRow(id)));
			await untilWaiting();
			lengths.push(...rests.parts.map(({ milliseconds }) => milliseconds));
			await rests.endPart();
		}
		await Promise.all(ends);
		expect(lengths).toEqual([2000, 1000, 1000, 1000, 1000, 1000]);
		expect(sentRows()).toBe(2);
		expect(stored()).toHaveLength(11);
	});
});

test('a keyed write sees the rows of those before it, as if they came one after another', async () => {
	const keyed = (Id: number, Name: string) => ({ rows: [{ Id, Name }], parameters: update });
	const ends = await runWaiting([keyed(1, 'a'), keyed(2, 'b'), keyed(1, 'c')]);
	const actions = ends.map(({ items }) => items[0]?.json.action);
	expect(actions).toEqual(['appended', 'appended', 'updated']);
	expect(stored().slice(1)).toEqual([[1, 'c'], [2, 'b']]); // prettier-ignore
	expect(methods().filter((method) => method === 'batchUpdate')).toHaveLength(1);
});

test.each([
	['append', {}],
	['update', update],
])('%s: a row that does not fit fails its own execution only', async (_name, parameters) => {
	const [first, bad, mixed, last] = await runWaiting([
		{ ...oneRow(1), parameters },
		{ rows: [{ Id: 2 }, { Id: 3, Other: 'x' }], parameters },
		{ rows: [{ Id: 4 }, { Id: 5, Other: 'x' }], parameters, continues: true },
		{ ...oneRow(6), parameters },
	]);
	expect(stored().slice(1).map(([id]) => id)).toEqual([1, 4, 6]); // prettier-ignore
	const written = ranges([first, last].flatMap((end) => end ?? []));
	expect(written).toEqual([['Sheet1!A2:B2'], ['Sheet1!A4:B4']]);
	expect(bad?.error?.message).toContain("The table has no column 'Other'");
	expect(mixed?.items.map(({ json }) => 'error' in json)).toEqual([false, true]);
	expect(methods().filter((method) => /append|batchUpdate/.test(method ?? ''))).toHaveLength(1);
});

test.each([
	['append', {}],
	['update', update],
])('%s: what Google refuses because of one row is sent without it', async (_name, parameters) => {
	// All four together, then the second half, then its first one.
	for (const nth of [1, 3, 4])
		google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 400, nth });
	const ends = await runWaiting([1, 2, 3, 4].map((id) => ({ ...oneRow(id), parameters })));
	const sent = ends.flatMap(({ error }, at) => (error ? [] : [[at + 1, `N${at + 1}`]]));
	expect(ends.flatMap(({ error }) => error?.httpCode ?? [])).toEqual(['400']);
	expect(stored().slice(1).sort()).toEqual(sent);
});

test('what concerns the table is asked once, and told to each', async () => {
	const parameters = tabOf('Nowhere');
	const ends = await runWaiting([1, 2, 3].map((id) => ({ ...oneRow(id), parameters })));
	const noTab = "Google Sheets: the spreadsheet has no tab 'Nowhere'";
	expect(messages(ends)).toEqual([noTab, noTab, noTab]);
	const asked = methods().length;
	await start({ ...oneRow(1), parameters });
	expect(asked * 2).toBe(methods().length);
});

test('where there is no header, the executions that go together make it together', async () => {
	spreadsheetId = seed([]);
	const ends = await runWaiting([oneRow(1), { rows: [{ Other: 2 }] }, oneRow(3)]);
	expect(messages(ends)).toEqual([undefined, undefined, undefined]);
	expect(stored()).toEqual([['Id', 'Name', 'Other'], [1, 'N1'], ['', '', 2], [3, 'N3']]); // prettier-ignore
});

test('an ambiguous failure is told to each, and nothing is sent again', async () => {
	google.fault({ match: 'sheets.spreadsheets.batchUpdate', connection: 'resetAfter' });
	const ends = await runWaiting([oneRow(1), oneRow(2), oneRow(3)]);
	for (const { error } of ends)
		expect(error?.message).toContain('The rows may have been appended');
	expect(methods().filter((method) => method === 'batchUpdate')).toHaveLength(1);
	expect(stored()).toHaveLength(4);
});

test('executions with other credentials, options or targets do not go together', async () => {
	google.tokens.issue({ token });
	await runWaiting([
		oneRow(1),
		{ ...oneRow(2), credential: { driveAccess: 'allFiles' } },
		withOptions(oneRow(3), { timeLimits: { limits: { timeoutSeconds: 200 } } }),
		withOptions(oneRow(4), { range: 'A:B' }),
		withOptions(oneRow(5), { valueInputOption: 'RAW' }),
		withOptions(oneRow(6), { extraColumns: 'ignore' }),
		oneRow(7),
	]);
	expect(methods().filter((method) => method === 'batchUpdate')).toHaveLength(6);
	expect(stored().slice(1).map(([id]) => id)).toEqual([1, 7, 2, 3, 4, 5, 6]); // prettier-ignore
});

test('what replaces a table does not go together', async () => {
	const replace = { operation: 'write', writeMode: 'replace' };
	await runWaiting([1, 2].map((id) => ({ ...oneRow(id), parameters: replace })));
	expect(stored().filter((row) => row.some((cell) => cell !== ''))).toEqual([['Id', 'Name'], [2, 'N2']]); // prettier-ignore
});

test('more than one request holds makes a second group', async () => {
	const long = 'x'.repeat(49_000);
	const rows = Array.from({ length: 15 }, () => ({ Id: 1, Name: long }));
	const ends = await runWaiting(Array.from({ length: 4 }, () => ({ rows })));
	expect(ranges(ends).flat()).toHaveLength(60);
	expect(methods().filter((method) => method === 'batchUpdate')).toHaveLength(2);
});

describe('an execution that is stopped', () => {
	/** Stops executions when a request comes. */
	const stopAt = (wanted: string, ...stops: AbortController[]) => {
		google.fault({
			match({ method }) {
				if (method === `sheets.spreadsheets.${wanted}`)
					for (const stop of stops) stop.abort();
				return false;
			},
		});
	};

	test('while it waits leaves the group, whoever came first', async () => {
		const stop = new AbortController();
		const runs = [{ ...oneRow(1), signal: stop.signal }, oneRow(2), oneRow(3)];
		const ends = await runWaiting(runs, () => {
			stop.abort();
		});
		expect(messages(ends)).toEqual(['The execution was stopped', undefined, undefined]);
		expect(stored().slice(1)).toEqual([[2, 'N2'], [3, 'N3']]); // prettier-ignore
	});

	test('before the rows are sent takes its own back, and the request of the others goes on', async () => {
		const stop = new AbortController();
		// It is the first whose credential sends.
		stopAt('get', stop);
		const runs = [
			{ ...oneRow(1), signal: stop.signal },
			{ ...oneRow(2), signal: new AbortController().signal },
		];
		const ends = await runWaiting([...runs, oneRow(3)]);
		expect(messages(ends)).toEqual(['The execution was stopped', undefined, undefined]);
		expect(stored().slice(1)).toEqual([[2, 'N2'], [3, 'N3']]); // prettier-ignore
	});

	test('while the rows are sent does not take the others with it', async () => {
		const stop = new AbortController();
		stopAt('batchUpdate', stop);
		const ends = await runWaiting([{ ...oneRow(1), signal: stop.signal }, oneRow(2)]);
		expect(ranges(ends)).toEqual([['Sheet1!A2:B2'], ['Sheet1!A3:B3']]);
		expect(methods().filter((method) => method === 'batchUpdate')).toHaveLength(1);
	});

	test('with all others ends the request', async () => {
		const stops = [new AbortController(), new AbortController()];
		stopAt('get', ...stops);
		const ends = await runWaiting(stops.map(({ signal }, id) => ({ ...oneRow(id), signal })));
		expect(messages(ends)).toEqual(stops.map(() => 'The execution was stopped'));
		expect(methods()).toEqual(['get']);
	});
});

test('each learns that the request waits for the quota, and has the hints about its rows', async () => {
	google.fault({ match: 'sheets.spreadsheets.batchUpdate', status: 429, retryAfter: 0 });
	google.sheets.enter(spreadsheetId, 'Sheet1!A2', [[0, 'N0']]);
	const ends = await runWaiting([oneRow(1), { rows: [{ Id: 'x', Name: 'N2' }] }, oneRow(3)]);
	for (const { logs } of ends) expect(logs).toEqual([expect.stringContaining('rate-limiting')]);
	const hint = expect.stringContaining("A text was stored in 'Id'") as string;
	expect(ends.map(({ hints }) => hints)).toEqual([[], [hint], []]);
});
