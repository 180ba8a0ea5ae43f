// Brings an edit of the sources into a running n8n: bundles it again and copies the changed files over the
// installed package. n8n, started with N8N_DEV_RELOAD, watches that folder and loads the package again.
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import { root } from './n8n/installN8n.ts';

interface PackageBuild {
	readonly buildPackage: (options: {
		root: string;
		target: string;
		minify: boolean;
	}) => Promise<unknown>;
}

const { buildPackage } = createRequire(import.meta.url)('../build/package') as PackageBuild;

export interface ReloadOptions {
	/** The `dist` folder of the installed package. */
	readonly installed: string;
	/** A folder for building. */
	readonly workshop: string;
	readonly say: (text: string) => void;
	/** Resolves when n8n has loaded the package again. */
	readonly reloaded: () => Promise<void>;
}

/** Watches the sources. @returns a function that stops it */
export function reloadOnEdit(options: ReloadOptions): () => Promise<void> {
	let edited = 0;
	let work: Promise<void> | undefined;
	let waiting: NodeJS.Timeout | undefined;
	const start = () => {
		// An editor may write a file in several steps.
		clearTimeout(waiting);
		waiting = setTimeout(() => {
			work ??= untilUpToDate().finally(() => {
				work = undefined;
			});
		}, 50);
	};
	const untilUpToDate = async () => {
		for (let seen = 0; seen < edited;) {
			seen = edited;
			await bringOver(options);
		}
	};
	const stops = ['nodes', 'credentials'].map((folder) =>
		watchFolders(path.join(root, folder), (file) => {
			if (!/\.(ts|json|svg|png)$/.test(file)) return;
			edited++;
			start();
		}),
	);
	return async () => {
		for (const stop of stops) stop();
		clearTimeout(waiting);
		await work;
		await rm(options.workshop, { recursive: true, force: true });
	};
}

/**
 * Watches each folder by itself. A recursive watch of Node on Linux loses a file that is replaced by another of the same name, as git and
 * many editors do it.
 * @param edited gets the file's name
 * @returns stops it
 */
export function watchFolders(top: string, edited: (file: string) => void): () => void {
	const watchers = new Map<string, FSWatcher>();
	const add = (folder: string) => {
		if (watchers.has(folder)) return;
		const watcher = watch(folder, (_event, file) => {
			if (file === null) return;
			look();
			edited(file);
		});
		// The folder was removed.
		watcher.on('error', () => {
			watcher.close();
		});
		watchers.set(folder, watcher);
	};
	const look = () => {
		const entries = readdirSync(top, { recursive: true, withFileTypes: true });
		const folders = entries.filter((entry) => entry.isDirectory());
		const present = new Set([
			top,
			...folders.map(({ parentPath, name }) => path.join(parentPath, name)),
		]);
		for (const [folder, watcher] of watchers) {
			if (present.has(folder)) continue;
			watcher.close();
			watchers.delete(folder);
		}
		present.forEach(add);
	};
	look();
	return () => {
		for (const watcher of watchers.values()) watcher.close();
	};
}

async function bringOver(options: ReloadOptions): Promise<void> {
	const began = Date.now();
	try {
		await rm(options.workshop, { recursive: true, force: true });
		await buildPackage({ root, target: options.workshop, minify: false });
		const built = Date.now();
		const reloaded = options.reloaded();
		const changed = await copyChanged(options);
		if (changed === 0) return;
		await reloaded;
		const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
		options.say(
			`Live after ${seconds(began)} (${seconds(built)} of them n8n's): ${changed} file(s) changed`,
		);
	} catch (error) {
		options.say(`Not taken over:\n${error instanceof Error ? error.message : String(error)}`);
	}
}

/** @returns how many files changed */
async function copyChanged({ workshop, installed }: ReloadOptions): Promise<number> {
	const built = await filesOf(workshop);
	let changed = 0;
	for (const file of built) {
		const [from, to] = [path.join(workshop, file), path.join(installed, file)];
		const present = await readFile(to).catch(() => undefined);
		if (present?.equals(await readFile(from))) continue;
		await mkdir(path.dirname(to), { recursive: true });
		await cp(from, to);
		changed++;
	}
	const gone = (await filesOf(installed)).filter((file) => !built.includes(file));
	for (const file of gone) await rm(path.join(installed, file));
	return changed + gone.length;
}

async function filesOf(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
