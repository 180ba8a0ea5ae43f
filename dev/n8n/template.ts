import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { ensureN8nInstalled, getN8nFolder, root } from './installN8n.ts';
import { installPackage } from './installPackage.ts';
import { startN8n } from './startN8n.ts';

/**
 * A user folder with the freshly built and packed package installed, the database migrated and the owner
 * created. Tests and benchmarks start from copies of it, which saves them the first boot.
 */
export class Template {
	readonly folder: string;

	/** @param name folder under `.dev/`, one for each kind of run */
	constructor(name: string) {
		this.folder = path.join(root, '.dev', name, 'template');
	}

	async prepare(): Promise<void> {
		const started = await ensureStartedOnce();
		await rm(path.dirname(this.folder), { recursive: true, force: true });
		await cp(started, this.folder, { recursive: true });
		await installPackage(this.folder);
	}

	/** @returns a new user folder with a unique name, even if one process loads this module twice */
	async copy(): Promise<string> {
		const folder = await mkdtemp(path.join(path.dirname(this.folder), 'n8n-'));
		await cp(this.folder, folder, { recursive: true });
		return folder;
	}
}

/**
 * Makes a user folder as the first start of the n8n that runs leaves it, with the database migrated and the owner created. It is beside
 * this n8n, so that the migrations run once for all runs of all checkouts.
 */
async function ensureStartedOnce(): Promise<string> {
	await ensureN8nInstalled();
	const folder = `${getN8nFolder()}-started`;
	if (existsSync(folder)) return folder;
	const partial = await mkdtemp(`${folder}.partial-`);
	try {
		const n8n = await startN8n({ userFolder: partial });
		await n8n.stop();
		// Another process may have been faster.
		if (!existsSync(folder)) await rename(partial, folder);
	} finally {
		await rm(partial, { recursive: true, force: true });
	}
	return folder;
}
