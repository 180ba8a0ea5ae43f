import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { runCommand } from '../../dev/n8n/command.ts';
import { ensureHost, root } from '../../dev/n8n/host.ts';
import { installPackage, packPackage } from '../../dev/n8n/installPackage.ts';
import { startN8n } from '../../dev/n8n/server.ts';

/** A user folder with the packed package installed, the database migrated and the owner made; tests start from copies of it. */
export const templateFolder = path.join(root, '.dev', 'test', 'template');

export default async function prepare(): Promise<void> {
	await ensureHost();
	await runCommand(process.execPath, [require.resolve('gulp/bin/gulp.js'), 'bundle'], { cwd: root });
	const tarball = await packPackage();
	await rm(path.join(root, '.dev', 'test'), { recursive: true, force: true });
	await mkdir(templateFolder, { recursive: true });
	await installPackage(tarball, templateFolder);
	const n8n = await startN8n({ userFolder: templateFolder });
	await n8n.stop();
	await rm(path.dirname(tarball), { recursive: true });
	if (!existsSync(path.join(templateFolder, '.n8n', 'database.sqlite'))) throw new Error(n8n.output());
}

export async function copyOfTemplate(): Promise<string> {
	const folder = path.join(root, '.dev', 'test', `n8n-${process.pid}-${Date.now()}`);
	await cp(templateFolder, folder, { recursive: true });
	return folder;
}
