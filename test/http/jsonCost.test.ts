import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { transformSync } from '@swc/core';

import { hasRoomToParse, mayBeJson, parsingCost } from '../../nodes/http/jsonCost';
import { expectLinear } from '../growth';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const bomb = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);

test('what stands in texts counts as text', () => {
	expect(parsingCost(json('a'))).toBe(3 + 24);
	expect(parsingCost(json('{[,"\\'.repeat(10)))).toBe(json('{[,"\\'.repeat(10)).length + 24);
	expect(parsingCost(json([{ a: 1 }, {}]))).toBe(12 + 40 + 64 + 24 + 12 + 64);
});

test('an answer as large as allowed is read unless it is made of next to nothing', () => {
	expect(hasRoomToParse(json({ text: 'x,'.repeat(30_000_000) }))).toBe(true);
	expect(hasRoomToParse(bomb(60_000))).toBe(true);
	expect(hasRoomToParse(bomb(63_000_000))).toBe(false);
});

test.each([
	['{"a":1}', true],
	['\uFEFF \n[1]', true],
	[' '.repeat(200), true],
	['"text"', false],
	['<html>', false],
	['\u0089PNG', false],
])('%j may be JSON: %s', (text, expected) => {
	expect(mayBeJson(Buffer.from(text))).toBe(expected);
});

test.each(['{},', '"', '\\', '[', '"a":1,'])('costs no more than the length of %j', (unit) => {
	expectLinear(
		unit,
		(text) => Buffer.from(text),
		(bytes) => parsingCost(bytes),
	);
});

/** Four answers of 63 MB of `{},` at once, in a process with a heap as n8n has it on a small machine. */
const program = (isGuarded: boolean) => `
	const { hasRoomToParse } = require('./jsonCost.js');
	const kept = [];
	for (let answer = 0; answer < 4; answer++) {
		const bytes = Buffer.from('[' + '{},'.repeat(21_000_000) + '{}]');
		if (!${isGuarded} || hasRoomToParse(bytes)) kept.push(JSON.parse(bytes.toString('utf8')));
	}
	process.stdout.write('alive with ' + kept.length);`;

test('four such answers at once end a process that parses them, and not one that looks first', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'heap-'));
	const source = readFileSync(path.join(__dirname, '../../nodes/http/jsonCost.ts'), 'utf8');
	const jsc = { parser: { syntax: 'typescript' as const } };
	writeFileSync(
		path.join(folder, 'jsonCost.js'),
		transformSync(source, { jsc, module: { type: 'commonjs' } }).code,
	);
	const run = (isGuarded: boolean) => {
		writeFileSync(path.join(folder, 'run.js'), program(isGuarded));
		return spawnSync(process.execPath, ['--max-old-space-size=1024', 'run.js'], {
			cwd: folder,
			encoding: 'utf8',
		});
	};
	expect(run(false).status).not.toBe(0);
	expect(run(true)).toMatchObject({ status: 0, stdout: 'alive with 0' });
	rmSync(folder, { recursive: true });
});
