// `npm run test:versions [VERSION…]`: what works on which version of n8n, one after the other, and the table of
// docs/versions.md. Installs each n8n once (about 4 minutes, 2 GB).
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { runJest } from './jest.ts';
import { runCommand } from './n8n/command.ts';
import { listPinnedVersions, root } from './n8n/installN8n.ts';

const page = path.join(root, 'docs', 'versions.md');
const [begin, end] = ['<!-- made by npm run test:versions -->', '<!-- end of what is made -->'];

/** Cells of a row by their column's title. */
type Row = Readonly<Record<string, string>>;

/** @returns what was seen, and whether all of it is as expected */
async function observe(version: string): Promise<{ row: Row | undefined; passed: boolean }> {
	const record = path.join(root, '.dev', 'versions', `${version}.json`);
	rmSync(record, { force: true });
	const env = { VERSIONS: '1', N8N_HOST_VERSION: version };
	const code = await runJest(['--selectProjects', 'versions', '-w', '1'], env);
	const row = existsSync(record) ? (JSON.parse(readFileSync(record, 'utf8')) as Row) : undefined;
	return { row, passed: code === 0 };
}

const cellsOf = (line: string) =>
	line
		.slice(1, line.lastIndexOf('|'))
		.split('|')
		.map((cell) => cell.trim());

/** The page's rows by version, so that a run of some versions keeps the others. */
function rowsOf(table: string): Map<string, Row> {
	const [head = [], , ...rows] = table
		.split('\n')
		.filter((line) => line.startsWith('|'))
		.map(cellsOf);
	return new Map(
		rows.map(([version = '', ...cells]) => [
			version,
			Object.fromEntries(cells.map((cell, at) => [head[at + 1] ?? '', cell])),
		]),
	);
}

function tableOf(rows: ReadonlyMap<string, Row>): string {
	const titles = Object.keys([...rows.values()].at(-1) ?? {});
	const lines = listPinnedVersions().map((version) => [
		version,
		...titles.map((title) => rows.get(version)?.[title] ?? 'not run'),
	]);
	return [['n8n', ...titles], ['---', ...titles.map(() => '---')], ...lines]
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');
}

async function write(version: string, row: Row): Promise<void> {
	const [before = '', rest = ''] = readFileSync(page, 'utf8').split(begin);
	const [table = '', after = ''] = rest.split(end);
	const rows = rowsOf(table).set(version, row);
	writeFileSync(page, `${before}${begin}\n\n${tableOf(rows)}\n\n${end}${after}`);
	const prettier = path.join(root, 'node_modules/prettier/bin/prettier.cjs');
	await runCommand(process.execPath, [prettier, '--write', page], { cwd: root });
}

async function main(): Promise<number> {
	const known = listPinnedVersions();
	const versions = process.argv.length > 2 ? process.argv.slice(2) : known;
	const unknown = versions.filter((version) => !known.includes(version));
	if (unknown.length > 0) {
		const names = unknown.join(', ');
		console.error(`No lock file for n8n ${names}. dev/n8n/host has: ${known.join(', ')}.`);
		return 1;
	}
	const failed: string[] = [];
	for (const version of versions) {
		console.log(`\nn8n ${version}`);
		const { row, passed } = await observe(version);
		// Each row is written at once, so that a run that is stopped keeps what it has seen.
		if (row) await write(version, row);
		if (!passed) failed.push(version);
	}
	if (failed.length === 0) console.log('docs/versions.md is written.');
	else console.log(`Failed on n8n ${failed.join(', ')}.`);
	return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
