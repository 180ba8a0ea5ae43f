// `npm test`: runs every suite in one run of jest. The last lines say what a suite needs and the machine
// lacks.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { runJest } from './jest.ts';
import { MessageOnlyError } from './n8n/command.ts';
import { ensureN8nInstalled, root } from './n8n/installN8n.ts';
import { listPostgresFolders } from './n8n/queueServices.ts';

interface Need {
	/** Folder under test/. */
	readonly suite: string;
	readonly programs: readonly string[];
	readonly hint: string;
}

const needs: readonly Need[] = [
	{ suite: 'browser', programs: ['chromium'], hint: 'apt-get install chromium' },
	{
		suite: 'queue',
		programs: ['redis-server', 'initdb'],
		hint: 'apt-get install redis-server postgresql',
	},
];

function isInstalled(program: string): boolean {
	const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...listPostgresFolders()];
	return folders.some((folder) => existsSync(path.join(folder, program)));
}

function hasTests(suite: string): boolean {
	const folder = path.join(root, 'test', suite);
	return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.test.ts'));
}

async function main(): Promise<number> {
	await ensureN8nInstalled();
	const lacking = needs.filter(
		({ suite, programs }) => hasTests(suite) && !programs.every(isInstalled),
	);
	const without = lacking.flatMap(({ suite }) => ['--ignoreProjects', suite]);
	const code = await runJest([...without, ...process.argv.slice(2)]);
	for (const { suite, programs, hint } of lacking) {
		console.log(
			`Not run: the ${suite} suite. It needs ${programs.join(' and ')} (on Debian: ${hint}).`,
		);
	}
	return code;
}

process.exitCode = await main().catch((error: unknown) => {
	console.error(error instanceof MessageOnlyError ? error.message : error);
	return 1;
});
