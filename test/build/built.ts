import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { IDataObject } from 'n8n-workflow';

import manifest from '../../package.json';

export const root = path.join(__dirname, '..', '..');

/** As build/bundle.js tells of each file. */
export interface Built {
	readonly fileName: string;
	readonly isEntry: boolean;
	readonly isLazy: boolean;
	readonly imports: readonly string[];
	readonly inputs: readonly string[];
}

export interface BundledPackage {
	readonly folder: string;
	readonly name: string;
	readonly version: string;
	readonly license: string;
}

/** A folder that looks like the project to npm: what is packed, and what packing asks. */
export class Stage {
	readonly folder = mkdtempSync(path.join(tmpdir(), 'n8n-nodes-agent-workspace-stage-'));

	constructor() {
		for (const name of [
			'package.json',
			'package-lock.json',
			'README.md',
			'LICENSE.md',
			'gulpfile.js',
		]) {
			cpSync(path.join(root, name), path.join(this.folder, name));
		}
		for (const name of ['build', 'nodes', 'credentials'])
			cpSync(path.join(root, name), path.join(this.folder, name), { recursive: true });
	}

	/** Builds the project's sources into this folder's dist. */
	build(): { files: Built[]; packages: BundledPackage[] } {
		// In a process of its own: the bundler is an ES module, which jest does not run.
		const script = `
			const { buildPackage } = require('./build/package');
			const { listBundledPackages } = require('./build/notices');
			const root = process.cwd();
			buildPackage({ root, target: process.argv[1] }).then((files) => {
				const packages = listBundledPackages(root, files.flatMap(({ inputs }) => inputs));
				console.log(JSON.stringify({ files, packages }));
			});`;
		const printed = execFileSync(process.execPath, ['-e', script, this.dist], {
			cwd: root,
			encoding: 'utf8',
		});
		return JSON.parse(printed) as { files: Built[]; packages: BundledPackage[] };
	}

	/** Builds what a process needs to run built nodes in n8n's own context. */
	buildHarness(): void {
		const script = path.join(__dirname, 'buildHarness.mjs');
		execFileSync(process.execPath, [script, this.harness], { stdio: 'inherit' });
	}

	/** The folder of what `buildHarness` built. */
	get harness(): string {
		return path.join(this.folder, 'harness');
	}

	/** The built file of a node. */
	fileOf(name: string): string {
		const file = manifest.n8n.nodes.find((one) => one.includes(`/${name}.`));
		if (file === undefined) throw new Error(`There is no node ${name}`);
		return path.join(this.folder, file);
	}

	get dist(): string {
		return path.join(this.folder, 'dist');
	}

	/** @throws Error with what npm printed, when it refuses */
	pack(destination: string): Packed {
		const to = path.join(this.folder, destination);
		mkdirSync(to, { recursive: true });
		const printed = execFileSync('npm', ['pack', '--json', '--pack-destination', to], {
			cwd: this.folder,
			encoding: 'utf8',
			stdio: 'pipe',
		});
		const [packed] = JSON.parse(printed) as Array<Omit<Packed, 'bytes'> & { filename: string }>;
		if (packed === undefined) throw new Error('npm packed nothing');
		return { ...packed, bytes: readFileSync(path.join(to, packed.filename)) };
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}
}

export interface Packed {
	readonly size: number;
	readonly unpackedSize: number;
	readonly files: ReadonlyArray<{ path: string; size: number }>;
	readonly bytes: Buffer;
}

/** Starts a script of this folder in a process of its own, which prints what it says. */
export function startScript(
	script: string,
	given: readonly string[] = [],
	execPath = process.execPath,
	more: NodeJS.ProcessEnv = {},
): ChildProcess {
	// As n8n has packages find n8n-workflow.
	const env = { ...process.env, NODE_PATH: path.join(root, 'node_modules'), ...more };
	const child = fork(path.join(__dirname, script), given, {
		...{ cwd: root, env, execPath, execArgv: [], silent: true },
	});
	for (const output of [child.stdout, child.stderr])
		output?.on('data', (text) => {
			console.log(String(text));
		});
	return child;
}

/** How a run of a built node ended. */
export interface Ended {
	readonly items?: IDataObject[];
	readonly error?: string;
}

/** A process that runs built nodes. */
export class BuiltNodes {
	readonly child: ChildProcess;
	private readonly over: Promise<undefined>;
	private readonly stage: Stage;

	constructor(stage: Stage, execPath?: string) {
		this.stage = stage;
		const { folder, harness } = stage;
		// The nodes must find the n8n-workflow of the harness.
		const env = { NODE_PATH: harness, NODE_COMPILE_CACHE: path.join(folder, 'compiled') };
		const given = [path.join(harness, 'harness.js')];
		this.child = startScript('builtRuns.cjs', given, execPath, env);
		this.over = once(this.child, 'exit').then(() => undefined);
	}

	/** @returns how the runs ended, and the version of Node; undefined if the process ended before */
	async run(
		name: string,
		contexts: readonly object[],
	): Promise<{ version: string; ended: Ended[] } | undefined> {
		const file = this.stage.fileOf(name);
		const answer = new Promise<{ version: string; ended: Ended[] }>((resolve) => {
			this.child.once('message', resolve);
		});
		// What cannot be sent goes to a process that has just been killed.
		this.child.send(
			contexts.map((options) => ({ file, name, options })),
			() => undefined,
		);
		return await Promise.race([answer, this.over]);
	}
}

/** The files that are loaded along with one, itself included. */
export function loadedWith(fileName: string, files: readonly Built[]): Built[] {
	const reached = new Set<string>();
	const pending = [fileName];
	for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
		if (reached.has(next)) continue;
		reached.add(next);
		pending.push(...(files.find((file) => file.fileName === next)?.imports ?? []));
	}
	return files.filter((file) => reached.has(file.fileName));
}

export function packagesIn(files: readonly Built[]): string[] {
	const names = files
		.flatMap(({ inputs }) => inputs)
		.map((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1]);
	return [...new Set(names.filter((name) => name !== undefined))].sort();
}
