import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from './command.ts';
import { ensureN8nInstalled, root } from './installN8n.ts';
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
		await ensureN8nInstalled();
		const gulp = path.join(root, 'node_modules', 'gulp', 'bin', 'gulp.js');
		await runCommand(process.execPath, [gulp, 'bundle'], { cwd: root });
		await rm(path.dirname(this.folder), { recursive: true, force: true });
		await mkdir(this.folder, { recursive: true });
		await installPackage(this.folder);
		const n8n = await startN8n({ userFolder: this.folder });
		await n8n.stop();
	}

	/** @returns a new user folder with a unique name, even if one process loads this module twice */
	async copy(): Promise<string> {
		const folder = await mkdtemp(path.join(path.dirname(this.folder), 'n8n-'));
		await cp(this.folder, folder, { recursive: true });
		return folder;
	}
}
