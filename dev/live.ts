// `npm run test:live`: the three nodes with a user's own accounts, in a real n8n. Says what it made and how to
// remove it, and writes a report for an issue.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { reportOf } from './live/report.ts';
import { runLive } from './live/run.ts';
import { liveSettings, secretsOf } from './live/settings.ts';
import { MessageOnlyError } from './n8n/command.ts';
import { ensureN8nInstalled, readVersion, root } from './n8n/installN8n.ts';
import { startN8n } from './n8n/startN8n.ts';
import { Template } from './n8n/template.ts';

const folder = path.join(root, '.dev', 'live');
const settingsFile = process.env.LIVE_FILE ?? path.join(root, '.dev', 'live.json');
const reportFile = path.join(folder, 'report.md');

async function main(): Promise<void> {
	const settings = liveSettings(settingsFile, process.env);
	console.log('Building the package and starting n8n …');
	const template = new Template('live');
	await template.prepare();
	// Google itself issues the tokens.
	const env = { CREDENTIALS_OVERWRITE_DATA: '{}' };
	const n8n = await startN8n({ userFolder: template.folder, env });
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void n8n.stop().then(() => process.exit(1)));
	}
	try {
		const report = await runLive(n8n.api, settings, console.log);
		const versions = {
			date: new Date().toISOString().slice(0, 10),
			'the package': readVersion(root),
			n8n: readVersion(path.join(await ensureN8nInstalled(), 'node_modules', 'n8n')),
			Node: process.versions.node,
		};
		const page = reportOf(report, secretsOf(settings), versions);
		await mkdir(folder, { recursive: true });
		await writeFile(reportFile, page);
		const { facts, made, outcomes, prefix } = report;
		const wrong = facts.filter(({ verdict }) => verdict === 'WRONG');
		console.log(`\nFacts found wrong: ${wrong.length === 0 ? 'none' : ''}`);
		for (const { claim, seen } of wrong) console.log(`  ${claim} ${seen}`);
		if (made.length > 0) {
			console.log('\nMade in your account:');
			for (const { what, address } of made) console.log(`  ${what}: ${address}`);
			console.log(
				`Search Drive and Gmail for "${prefix}" and delete what you find; nothing else was changed.`,
			);
		}
		console.log(`\nThe report, without keys and addresses: ${path.relative(root, reportFile)}`);
		if (wrong.length > 0 || outcomes.some(({ result }) => result === 'failed'))
			process.exitCode = 1;
	} finally {
		await n8n.stop();
		// n8n's database in this folder holds the credentials.
		await rm(template.folder, { recursive: true, force: true });
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof MessageOnlyError ? error.message : error);
	process.exitCode = 1;
});
