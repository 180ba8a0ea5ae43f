// The session channel in the real n8n, compared with a bare `ws` client as the ceiling and with a trigger
// that only calls `emit`.
// node bench/channel.ts [rounds] [section …]
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';

import { ensureHost } from '../dev/n8n/host.ts';
import { bursts } from './channel/bursts.ts';
import { cycles } from './channel/cycles.ts';
import { host, network } from './channel/faults.ts';
import { idle } from './channel/idle.ts';
import { matrix } from './channel/matrix.ts';
import { rate } from './channel/rate.ts';
import { reconnects } from './channel/reconnects.ts';
import { say } from './channel/text.ts';

/** Each section runs on its own n8n. */
const sections: Readonly<Record<string, (rounds: number) => Promise<void>>> = {
	bursts,
	rate,
	matrix,
	idle,
	reconnects,
	cycles,
	network,
	host,
};

async function main(): Promise<void> {
	const [first = '', ...rest] = process.argv.slice(2);
	const rounds = /^[1-9]\d*$/.test(first) ? Number(first) : undefined;
	const names = rounds === undefined ? process.argv.slice(2) : rest;
	const unknown = names.filter((name) => !(name in sections));
	if (unknown.length > 0) {
		say(`Unknown: ${unknown.join(', ')}. Sections: ${Object.keys(sections).join(', ')}`);
		process.exitCode = 1;
		return;
	}
	await describeMachine();
	for (const [name, section] of Object.entries(sections)) {
		if (names.length === 0 || names.includes(name)) await run(name, section, rounds ?? 3);
	}
}

/** A section that fails does not stop the others. */
async function run(name: string, section: (rounds: number) => Promise<void>, rounds: number): Promise<void> {
	const start = performance.now();
	say(`\n── ${name}`);
	try {
		await section(rounds);
	} catch (error) {
		process.exitCode = 1;
		console.error(`${name} broke off:`, error);
	}
	say(`(${((performance.now() - start) / 1000).toFixed(0)} s)`);
}

async function describeMachine(): Promise<void> {
	const [processor] = cpus();
	const gibibytes = (totalmem() / 1024 ** 3).toFixed(0);
	const modules = path.join(await ensureHost(), 'node_modules');
	const own = path.join(import.meta.dirname, '..', 'node_modules');
	say(
		`n8n ${versionOf(modules, 'n8n')}, SQLite, Node ${process.versions.node}, ws ${versionOf(own, 'ws')}; ${cpus().length} × ${processor?.model ?? ''}, ${gibibytes} GiB; every execution saved`,
	);
}

function versionOf(modules: string, name: string): string {
	const manifest = readFileSync(path.join(modules, name, 'package.json'), 'utf8');
	return (JSON.parse(manifest) as { version: string }).version;
}

await main();
