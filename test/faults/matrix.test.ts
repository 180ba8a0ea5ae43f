// Every fault at every request of every operation: what the user sees, and whether it is true. `npm run test:faults` runs all cells and
// compares report.md as a whole, `npm run docs -- faults` writes it; `npm test` runs some cells of each operation.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';

import { generatedPart } from '../docs/generatedPart';
import { withBinaryData } from '../createExecuteContext';
import { agentCells, agentSubjects } from './agentCells';
import { isAgreed } from './agreed';
import { googleCells, tokenCells, tokenSubject, type Cell } from './cells';
import { faultList, patientSeconds, timeoutSeconds } from './faultList';
import { nameOf, tables, told, toldByPage, type Ended } from './page';
import { subjects } from './samples';

const runsAll = process.env.FAULTS === 'all';
/** Prime to the number of faults, so that the cells of several requests have different ones. */
const step = 6;
/** Most of a cell is waiting, and one that a timeout ends does nothing else. */
const atOnce = 100;
const slowAtOnce = 150;

jest.setTimeout(1_200_000);

const page = toldByPage(readFileSync(path.join(__dirname, 'report.md'), 'utf8'));
let ended: Ended[] = [];

beforeAll(async () => {
	await withBinaryData();
	// The shortest waits between two tries.
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const limits = { slow: pLimit(slowAtOnce), other: pLimit(atOnce) };
	const perSubject = await Promise.all(
		subjects.map((subject) => googleCells(subject, faultList)),
	);
	const ofToken = await tokenCells(faultList);
	const cells = [...perSubject.flat(), ...agentCells(faultList), ...ofToken];
	const chosen = cells.filter((_cell, at) => runsAll || at % step === 0);
	const play = (cell: Cell) => limits[cell.isSlow ? 'slow' : 'other'](() => endedOf(cell));
	ended = await Promise.all(chosen.map(play));
});

/**
 * On a busy machine a short timeout may end other requests, too: what then differs from the page is played again with more time. Not
 * what is false: that no machine excuses.
 */
async function endedOf(cell: Cell): Promise<Ended> {
	try {
		if (cell.isSlow) {
			const outcome = await cell.run(timeoutSeconds);
			const isFalse = outcome.lie !== undefined && !isAgreed(cell);
			if (isFalse || isDeepStrictEqual(told(outcome), page.get(nameOf(cell))))
				return { cell, outcome };
		}
		const outcome = await cell.run(patientSeconds);
		const message = outcome.message.replace(`${patientSeconds} s`, `${timeoutSeconds} s`);
		return { cell, outcome: { ...outcome, message } };
	} catch (error) {
		throw new Error(`The stand-in could not play ${nameOf(cell)}`, { cause: error });
	}
}

test.each([...subjects.map(({ name }) => name), ...Object.keys(agentSubjects), tokenSubject])(
	'%s: nothing is done twice, no success was not done, and no error says what is not so',
	(subject) => {
		const own = ended.filter(({ cell }) => cell.subject === subject);
		expect(own.length).toBeGreaterThan(0);
		const lies = own.flatMap(({ cell, outcome }) =>
			outcome.lie === undefined || isAgreed(cell) ? [] : [[nameOf(cell), outcome]],
		);
		expect(lies).toEqual([]);
	},
);

test('report.md says so', () => {
	if (runsAll) {
		const { target, text, current } = generatedPart(
			'../test/faults/report.md',
			tables(ended),
			'npm run docs faults',
		);
		if (process.env.WRITE_DOCS) writeFileSync(target, current);
		else expect(text).toBe(current);
		console.log(`${ended.length} cells`);
		return;
	}
	const seen = ended.map(({ cell, outcome }) => [nameOf(cell), told(outcome)]);
	expect(seen.map(([name]) => [name, page.get(String(name))])).toEqual(seen);
});
