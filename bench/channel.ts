// The session channel in the real n8n, compared with a trigger that only calls `emit`.
// node bench/channel.ts [rounds] [section …]
import path from 'node:path';

import { readVersion, root } from '../dev/n8n/installN8n.ts';
import { bursts } from './channel/memory.ts';
import { rate } from './channel/rate.ts';
import { reconnects } from './channel/reconnects.ts';
import { describeHost } from './n8n.ts';
import { say } from './report.ts';

/** Each section runs on its own n8n. */
const sections = { bursts, rate, reconnects };

async function main(): Promise<void> {
	const words = process.argv.slice(2);
	const rounds = Number(words.find((text) => /^[1-9]\d*$/.test(text)) ?? 3);
	const names = words.filter((text) => !/^[1-9]\d*$/.test(text));
	const unknown = names.filter((name) => !(name in sections));
	if (unknown.length > 0) {
		say(`Unknown: ${unknown.join(', ')}. Sections: ${Object.keys(sections).join(', ')}`);
		process.exitCode = 1;
		return;
	}
	const ws = readVersion(path.join(root, 'node_modules', 'ws'));
	say(`${await describeHost()}, SQLite, ws ${ws}; every execution saved`);
	for (const [name, section] of Object.entries(sections)) {
		if (names.length === 0 || names.includes(name)) await run(name, section, rounds);
	}
}

/** A section that fails does not stop the others. */
async function run(
	name: string,
	section: (rounds: number) => Promise<void>,
	rounds: number,
): Promise<void> {
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

await main();
