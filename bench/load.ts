// What loading the three nodes costs n8n's process, compared with n8n's own Gmail, Google Sheets, Docs and
// Drive nodes and with two published community packages in the same run.
// npm run build, then: node bench/load.ts [samples]
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from '../dev/n8n/command.ts';
import { ensureN8nInstalled, root } from '../dev/n8n/installN8n.ts';
import { figure, median, reportRatio } from './report.ts';

interface Cost {
	/** Processor time in milliseconds. Loading is the only work, and other programs do not count. */
	readonly milliseconds: number;
	readonly megabytes: number;
}

const googleNodes = ['Gmail/Gmail', 'Sheet/GoogleSheets', 'Docs/GoogleDocs', 'Drive/GoogleDrive'];

/** Node modules that n8n loads long before any node. */
const builtins =
	'async_hooks crypto fs/promises http https stream timers/promises worker_threads zlib'.split(
		' ',
	);

/**
 * Runs in a separate process, in which n8n-workflow and the Node modules that n8n uses are already loaded, as
 * they are when n8n loads nodes.
 */
function sample(files: readonly string[]): void {
	const require = createRequire(import.meta.url);
	for (const name of builtins) require(name);
	// Its first use loads more of Node.
	if ((require('async_hooks') as { AsyncLocalStorage?: unknown }).AsyncLocalStorage === undefined)
		throw new Error('This Node has no AsyncLocalStorage');
	const [workflow, ...nodes] = files;
	if (workflow !== undefined) require(workflow);
	const load = () => {
		for (const file of nodes) {
			const exported = require(file) as Record<string, new () => unknown>;
			const name = path.basename(file).split('.')[0] ?? '';
			const Node = exported[name];
			if (Node === undefined) throw new Error(`${file} does not export ${name}`);
			new Node();
		}
	};
	const collect = () => globalThis.gc?.();
	collect();
	const memoryBefore = process.memoryUsage.rss();
	const cpuBefore = process.cpuUsage();
	load();
	const cpu = process.cpuUsage(cpuBefore);
	collect();
	const megabytes = (process.memoryUsage.rss() - memoryBefore) / 1024 / 1024;
	console.log(
		JSON.stringify({ milliseconds: (cpu.user + cpu.system) / 1000, megabytes } satisfies Cost),
	);
}

async function costOf(host: string, nodes: readonly string[], samples: number): Promise<Cost> {
	const workflow = createRequire(path.join(host, 'package.json')).resolve('n8n-workflow');
	const costs: Cost[] = [];
	for (let n = 0; n < samples; n++) {
		const printed = await runCommand(
			process.execPath,
			['--expose-gc', import.meta.filename, 'sample', workflow, ...nodes],
			// The way in which n8n lets packages find n8n-workflow.
			{ cwd: root, env: { ...process.env, NODE_PATH: path.join(host, 'node_modules') } },
		);
		costs.push(JSON.parse(printed) as Cost);
	}
	return {
		milliseconds: median(costs.map(({ milliseconds }) => milliseconds)),
		megabytes: median(costs.map(({ megabytes }) => megabytes)),
	};
}

const megabytesOf = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;

async function main(samples: number): Promise<void> {
	const host = await ensureN8nInstalled();
	// Outside the project, because the files would otherwise find the project's own n8n-workflow.
	const installed = mkdtempSync(path.join(tmpdir(), 'n8n-nodes-agent-workspace-load-'));
	try {
		cpSync(path.join(root, 'dist'), path.join(installed, 'dist'), { recursive: true });
		const ours = readNodes(root).map((file) => path.join(installed, file));
		const base = path.dirname(
			createRequire(path.join(host, 'node_modules', 'n8n', 'package.json')).resolve(
				'n8n-nodes-base/package.json',
			),
		);
		const theirs = googleNodes.map((name) =>
			path.join(base, 'dist', 'nodes', 'Google', `${name}.node.js`),
		);
		const show = (name: string, { milliseconds, megabytes }: Cost) => {
			figure(name, `${milliseconds.toFixed(1)} ms, ${megabytes.toFixed(1)} MB`);
		};
		for (const file of ours) show(path.basename(file), await costOf(host, [file], samples));
		const all = await costOf(host, ours, samples);
		show('All three nodes', all);
		const google = await costOf(host, theirs, samples);
		show("n8n's Gmail, Google Sheets, Docs and Drive nodes", google);
		reportRatio('Time of theirs, by ours', google.milliseconds / all.milliseconds, {
			atLeast: 40,
		});
		reportRatio('Memory of theirs, by ours', google.megabytes / all.megabytes, { atLeast: 10 });
		figure('Size on disk', megabytesOf(sizeOf(path.join(installed, 'dist'))));
		for (const [name, version] of Object.entries(publishedVersions)) {
			const { nodes, bytes } = await installPublished(installed, name, version);
			const title = `${name} ${version}`;
			const cost = await costOf(host, nodes, samples);
			show(`${title}, ${nodes.length} node${nodes.length === 1 ? '' : 's'}`, cost);
			figure('Size on disk', megabytesOf(bytes));
			reportRatio(`Time of ours, by ${title}`, all.milliseconds / cost.milliseconds, {
				atMost: 1,
			});
		}
	} finally {
		rmSync(installed, { recursive: true, force: true });
	}
}

/** Community packages that are published, as a measure of what such a package costs. */
const publishedVersions: Readonly<Record<string, string>> = {
	'@mendable/n8n-nodes-firecrawl': '2.1.2',
	'n8n-nodes-mcp': '0.1.37',
};

/** Installs as n8n does: alone and without scripts and peer dependencies, which n8n itself brings. */
async function installPublished(into: string, name: string, version: string) {
	const folder = path.join(into, name.replaceAll('/', '-'));
	mkdirSync(folder);
	const manifest = { private: true, dependencies: { [name]: version } };
	writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
	const quiet = [
		'--ignore-scripts',
		'--omit=peer',
		'--legacy-peer-deps',
		'--no-audit',
		'--no-fund',
	];
	await runCommand('npm', ['install', ...quiet], { cwd: folder });
	const home = path.join(folder, 'node_modules', name);
	const nodes = readNodes(home).map((file) => path.join(home, file));
	return { nodes, bytes: sizeOf(path.join(folder, 'node_modules')) };
}

/** The files of a package's nodes, relative to its folder. */
function readNodes(folder: string): readonly string[] {
	const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
	return (JSON.parse(text) as { n8n: { nodes: readonly string[] } }).n8n.nodes;
}

/** Bytes in all files of a folder. */
function sizeOf(folder: string): number {
	const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
		one.isFile(),
	);
	return files.reduce(
		(sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size,
		0,
	);
}

const [first, ...files] = process.argv.slice(2);
if (first === 'sample') sample(files);
else await main(Number(first ?? 9));
