// Every fault at every request of three executions that go together: each must learn what became of its own row. `npm run test:faults`
// runs all cells, `npm test` some of them.
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import pLimit from 'p-limit';

import type { LoggedRequest } from '../../dev/google/server';
import { waitTogether } from '../Workspace/waitTogether';
import { limits } from './cells';
import { type Ended, findLie, readClaim, toEnd } from './claim';
import { type ListedFault, faultList, patientSeconds, timeoutSeconds } from './faultList';
import { isCall, World } from './world';

const texts = ['first row', 'second row', 'third row'];
const subjects = {
	Append: (text: string) => ({ operation: 'append', values: [{ Name: text }] }),
	Update: (text: string) => ({
		operation: 'write',
		matchColumns: ['Name'],
		values: [{ Name: text }],
	}),
};

/** Prime to the number of faults, so that the cells of several requests have different ones. */
const step = process.env.FAULTS === 'all' ? 1 : 6;
const atOnce = 20;

jest.setTimeout(1_200_000);
beforeAll(() => {
	// The shortest waits between two tries.
	jest.spyOn(Math, 'random').mockReturnValue(0);
});

/** Lets three executions wait and go together. */
async function runGroup(
	world: World,
	inputOf: (text: string) => IDataObject,
	seconds: number,
): Promise<Ended[]> {
	const { spreadsheetId } = world.seeds;
	const node = { credentials: { workspaceOAuth2Api: { id: randomUUID(), name: 'Shared' } } };
	const more = { resource: 'spreadsheet', spreadsheetId, tab: 'Sheet1', timeoutSeconds: seconds };
	return await waitTogether(
		spreadsheetId,
		texts.map((text, at) => async () => {
			const inputs = [{ ...more, ...inputOf(text) }];
			const executionId = `execution-${at}`;
			return await toEnd(world.run({ inputs, options: limits, node, executionId }));
		}),
	);
}

/** What is false in what the execution with this text was told; undefined if nothing is. */
function findLieOf(world: World, text: string, end: Ended): string | undefined {
	const times = world.traces(text);
	if ('error' in end) return findLie(readClaim(end.error), times);
	if (times !== 1) return `a success that was done ${times} times`;
	const range = end.items[0]?.json.updatedRange as string;
	const written = JSON.stringify(world.google.sheets.values(world.seeds.spreadsheetId, range));
	return written === JSON.stringify([[text]]) ? undefined : `the row of another one: ${written}`;
}

const findLies = (world: World, ends: readonly Ended[]): string[] =>
	texts.flatMap((text, at) => findLieOf(world, text, ends[at] ?? { items: [] }) ?? []);

async function playCell(
	inputOf: (text: string) => IDataObject,
	nth: number,
	{ google, stays, isSlow }: ListedFault,
): Promise<string[]> {
	const world = await World.start();
	try {
		let seen = 0;
		const match = (request: LoggedRequest) => isCall(request) && ++seen >= nth;
		world.google.fault({ ...google, match, times: stays ? Infinity : 1 });
		const ends = await runGroup(world, inputOf, isSlow ? timeoutSeconds : patientSeconds);
		await world.settled();
		return [...findLies(world, ends), ...world.google.violations];
	} finally {
		await world.close();
	}
}

test.each(Object.entries(subjects))(
	'%s: nothing is done twice or lost untold, whatever happens to the requests of three executions',
	async (_name, inputOf) => {
		const calm = await World.start();
		const ends = await runGroup(calm, inputOf, patientSeconds);
		const count = calm.requests;
		expect(findLies(calm, ends)).toEqual([]);
		await calm.close();
		const cells = Array.from({ length: count }, (_, at) => at + 1).flatMap((nth) =>
			faultList.map((fault) => ({ nth, fault })),
		);
		const limit = pLimit(atOnce);
		const chosen = cells.filter((_, at) => at % step === 0);
		const played = chosen.map(({ nth, fault }) =>
			limit(async () => {
				const lies = await playCell(inputOf, nth, fault);
				return lies.map((lie) => `request ${nth}, ${fault.name}: ${lie}`);
			}),
		);
		expect((await Promise.all(played)).flat()).toEqual([]);
		expect(count).toBeLessThanOrEqual(4);
	},
);

/** Every request is refused, and so is a new token. */
function refuseToken({ google }: World): void {
	google.fault({ match: isCall, status: 401, times: Infinity });
	google.fault({ match: 'oauth.token', status: 400, times: Infinity });
}

test('a token that cannot be refreshed is asked for as often as by one execution, and told to each', async () => {
	const [together, alone] = [await World.start(), await World.start()];
	for (const world of [together, alone]) refuseToken(world);
	const ends = await runGroup(together, subjects.Append, patientSeconds);
	const { spreadsheetId } = alone.seeds;
	const place = { resource: 'spreadsheet', spreadsheetId, tab: 'Sheet1' };
	const input = { ...place, ...subjects.Append('row') };
	await expect(alone.run({ inputs: [input], options: limits })).rejects.toThrow(/token/);
	expect(together.google.requests.length).toBe(alone.google.requests.length);
	for (const end of ends) expect('error' in end && end.error.message).toContain('token');
	await Promise.all([together.close(), alone.close()]);
});

test('a token that one execution refreshed for all is in the error of none', async () => {
	const world = await World.start();
	world.google.fault({ match: 'sheets.spreadsheets.get', status: 401 });
	let secret = '';
	world.google.fault({
		match({ method, token = '' }) {
			if (method !== 'sheets.spreadsheets.batchUpdate') return false;
			// Its beginning gives a token away in any text, but not in base64.
			secret = Buffer.from(token).toString('base64');
			return true;
		},
		status: 403,
		get message() {
			return `The token ${secret} is not welcome`;
		},
	});
	const ends = await runGroup(world, subjects.Append, patientSeconds);
	expect(secret).not.toBe('');
	for (const end of ends) {
		const said = 'error' in end ? end.error.message : '';
		expect(said).toContain('is not welcome');
		expect(said).not.toContain(secret);
	}
	await world.close();
});
