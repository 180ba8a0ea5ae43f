// The page of all benchmarks shows what missed its target and what broke, so that neither can be overlooked.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { pageOf, ratiosOf, type Result } from '../../bench/all/results';
import { usualTarget } from '../../bench/operations/contest';
import { reportRatio } from '../../bench/report';

const job = { title: 'Emails', command: ['mail.ts', '3'], limitMinutes: 1 };
const result = (more: Partial<Result>): Result => ({
	job,
	commit: 'abc1234',
	printed: '',
	complaints: '',
	failure: undefined,
	seconds: 12,
	...more,
});

function printedRatio(...[name, value, target]: Parameters<typeof reportRatio>): string {
	const log = jest.spyOn(console, 'log').mockImplementation();
	reportRatio(name, value, target);
	const printed = String(log.mock.calls[0]?.[0]);
	log.mockRestore();
	process.exitCode = 0;
	return printed;
}

test('every printed ratio becomes a row, met or missed', () => {
	const met = printedRatio("ours / n8n's node", 0.5, { atMost: 1.1 });
	const missed = printedRatio(
		'a name that is so long that it leaves no room for its column at all',
		3,
		{ atLeast: 4 },
	);
	const printed = `Title (not a ratio)\n${met}\n${missed}\nrows  10 (at once)`;
	expect(ratiosOf(printed)).toEqual([
		{ name: "ours / n8n's node", value: '0.500', wanted: 'at most 1.1', met: true },
		{
			name: 'a name that is so long that it leaves no room for its column at all',
			value: '3.000',
			wanted: 'at least 4',
			met: false,
		},
	]);
	const page = pageOf(
		[result({ printed, failure: 'a target was missed' })],
		[['machine', 'fast']],
	);
	expect(page).toContain('- machine: fast');
	expect(page).toContain('- ratios: 1 met, 1 missed\n  - missed: a name that is so long');
	expect(page).toContain("| Emails | ours / n8n's node | 0.500 | at most 1.1 | met |");
	expect(page).toContain('| 3.000 | at least 4 | **missed** |');
	expect(page).toContain('- benchmarks that did not end well: Emails (a target was missed)');
});

test('a benchmark that breaks is named, with what it complained about', () => {
	const page = pageOf([result({ failure: 'exit code 1', complaints: 'Error: no Redis' })], []);
	expect(page).toContain('did not end well: Emails (exit code 1)');
	expect(page).toContain('`node bench/mail.ts 3`, 12 s, abc1234: **exit code 1**');
	expect(page).toContain('Error: no Redis');
	expect(pageOf([result({})], [])).toContain('did not end well: none');
});

test('CONTRIBUTING and the results name the same target', () => {
	for (const page of ['CONTRIBUTING.md', 'bench/results.md']) {
		const text = readFileSync(path.join(__dirname, '..', '..', page), 'utf8');
		expect([page, /more than ([\d.]+) times as long/.exec(text)?.[1]]).toEqual([
			page,
			String(usualTarget),
		]);
	}
});
