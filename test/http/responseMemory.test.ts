import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { transformSync } from '@swc/core';

import { canParse, itemParsingLimits, MemoryReservation } from '../../nodes/http/responseMemory';
import { getBytesInFlight } from '../sharedState';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const bomb = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);
const half = () => getHeapStatistics().heap_size_limit / 2;

afterEach(() => {
	expect(getBytesInFlight()).toBe(0);
});

test('an answer as large as allowed is read unless it is made of next to nothing', async () => {
	const memory = new MemoryReservation();
	const large = json({ text: 'x,'.repeat(30_000_000) });
	await memory.reserveForParsing(large, itemParsingLimits);
	await memory.reserveForParsing(bomb(60_000), itemParsingLimits);
	await expect(
		memory.reserveForParsing(bomb(63_000_000), itemParsingLimits),
	).rejects.toMatchObject({
		reason: 'tooCostly',
	});
	memory.release();
	expect([canParse(large), canParse(bomb(60_000)), canParse(bomb(63_000_000))]).toEqual([
		true,
		true,
		false,
	]);
});

test('all answers share one budget, and give back what they held', () => {
	const [one, other] = [new MemoryReservation(), new MemoryReservation()];
	one.reserve(half() - 1000);
	const tooMuch = () => {
		other.reserve(1001);
	};
	expect(tooMuch).toThrow(expect.objectContaining({ reason: 'noMemory' }) as Error);
	other.reserve(1000);
	one.release();
	one.release();
	expect(getBytesInFlight()).toBe(1000);
	tooMuch();
	other.release();
});

test('the budget outlives the package: another load of it counts on', () => {
	const memory = new MemoryReservation();
	memory.reserve(1000);
	jest.isolateModules(() => {
		const again = jest.requireActual<{ MemoryReservation: typeof MemoryReservation }>(
			'../../nodes/http/responseMemory',
		);
		expect(again.MemoryReservation).not.toBe(MemoryReservation);
		const otherMemory = new again.MemoryReservation();
		otherMemory.reserve(500);
		expect(getBytesInFlight()).toBe(1500);
		otherMemory.release();
	});
	memory.release();
});

/** Four answers of 63 MB of `{},` at once, in a process with a small heap, which is full soon. */
const program = (isGuarded: boolean) => `
	const { canParse } = require('./http/responseMemory.js');
	const kept = [];
	for (let answer = 0; answer < 4; answer++) {
		const bytes = Buffer.from('[' + '{},'.repeat(21_000_000) + '{}]');
		if (!${isGuarded} || canParse(bytes)) kept.push(JSON.parse(bytes.toString('utf8')));
	}
	process.stdout.write('alive with ' + kept.length);`;

test('four such answers at once end a process that parses them, and not one that looks first', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'heap-'));
	const jsc = { parser: { syntax: 'typescript' as const } };
	for (const name of [
		'http/responseMemory',
		'http/body',
		'http/networkErrors',
		'http/httpObserver',
		'core/runtime',
	]) {
		const source = readFileSync(path.join(__dirname, `../../nodes/${name}.ts`), 'utf8');
		const { code } = transformSync(source, { jsc, module: { type: 'commonjs' } });
		const file = path.join(folder, `${name}.js`);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, code);
	}
	const run = (isGuarded: boolean) => {
		writeFileSync(path.join(folder, 'run.js'), program(isGuarded));
		return spawnSync(process.execPath, ['--max-old-space-size=256', 'run.js'], {
			cwd: folder,
			encoding: 'utf8',
		});
	};
	expect(run(false).status).not.toBe(0);
	expect(run(true)).toMatchObject({ status: 0, stdout: 'alive with 0' });
	rmSync(folder, { recursive: true });
});
