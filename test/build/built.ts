import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

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
		for (const name of ['package.json', 'package-lock.json', 'README.md', 'LICENSE.md', 'gulpfile.js']) {
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
			const { bundledPackages } = require('./build/notices');
			const root = process.cwd();
			buildPackage({ root, target: process.argv[1] }).then((files) => {
				const packages = bundledPackages(root, files.flatMap(({ inputs }) => inputs));
				console.log(JSON.stringify({ files, packages }));
			});`;
		const printed = execFileSync(process.execPath, ['-e', script, this.dist], {
			cwd: root,
			encoding: 'utf8',
		});
		return JSON.parse(printed) as { files: Built[]; packages: BundledPackage[] };
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
