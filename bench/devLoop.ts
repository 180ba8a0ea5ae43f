// How long an edit takes from saving to the running n8n, under `npm run dev`, and how long a Ctrl-C.
// node bench/devLoop.ts [edits]
import { spawn } from 'node:child_process';
import {
	cpSync,
	globSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ensureN8nInstalled, root } from '../dev/n8n/installN8n.ts';
import { N8nApi } from '../dev/n8n/n8nApi.ts';
import { freePort } from '../dev/n8n/startN8n.ts';
import { pause, until } from './n8n.ts';
import { median } from './report.ts';

const nodeFile = 'nodes/Workspace/Workspace.node.ts';
const edited = /description: 'Work with Gmail[^']*'/;

/** Copies the sources, so that the edits do not touch the developer's files. */
function copyOfProject(): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-nodes-agent-workspace-dev-'));
	const files = globSync('{nodes,credentials,build,dev,examples,*.json,*.js,*.md}', {
		cwd: root,
	});
	for (const file of files)
		cpSync(path.join(root, file), path.join(folder, file), { recursive: true });
	symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
	return folder;
}

async function secondsUntilLive(folder: string, api: N8nApi, mark: string): Promise<number> {
	const file = path.join(folder, nodeFile);
	const source = readFileSync(file, 'utf8');
	if (!edited.test(source)) throw new Error(`${nodeFile} has no line to edit`);
	writeFileSync(file, source.replace(edited, `description: 'Work with Gmail, ${mark}'`));
	const saved = performance.now();
	const asked = { nodeInfos: [{ name: 'n8n-nodes-agent-workspace.workspace', version: 1 }] };
	for (;;) {
		const types = await api.request<Array<{ description: string }>>(
			'POST',
			'node-types',
			asked,
		);
		if (types[0]?.description.includes(mark)) return (performance.now() - saved) / 1000;
		await pause(50);
	}
}

async function main(edits: number): Promise<void> {
	await ensureN8nInstalled();
	const folder = copyOfProject();
	const port = await freePort();
	const dev = spawn(
		process.execPath,
		['dev/start.ts', '--dev', '--port', String(port), '--agent-port', String(await freePort())],
		{ cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
	);
	const ended = new Promise((resolve) => dev.once('close', resolve));
	let printed = '';
	dev.stdout.on('data', (data: Buffer) => {
		printed += data.toString();
	});
	try {
		await until('the start', () => printed.includes('Ctrl-C ends everything'), {
			limitSeconds: 300,
		});
		const api = await N8nApi.signIn(`http://127.0.0.1:${port}`);
		const seconds: number[] = [];
		for (let n = 1; n <= edits; n++) {
			seconds.push(await secondsUntilLive(folder, api, `edit ${n}`));
			console.log(`Edit ${n} is in the running n8n after ${seconds.at(-1)?.toFixed(1)} s`);
			await until('the news of it', () => printed.includes('Live after'), {
				limitSeconds: 60,
			});
		}
		console.log(`Median: ${median(seconds).toFixed(1)} s (target: 5 s on an idle machine)`);
	} finally {
		const began = performance.now();
		dev.kill('SIGINT');
		await ended;
		console.log(`Ended ${((performance.now() - began) / 1000).toFixed(1)} s after Ctrl-C`);
		rmSync(folder, { recursive: true, force: true });
	}
}

await main(Number(process.argv[2] ?? 5));
