import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

import { root } from '../dev/n8n/host.ts';
import { GoogleProcess } from './googleProcess.ts';
import { benchN8n, nodeMilliseconds } from './n8n.ts';
import { type BenchN8n, createWorkflows, type Stored } from './uploadWorkflows.ts';

/** The only folder that n8n may read from. */
export const folder = path.join(root, '.dev', 'bench-upload');

/** A file that is random enough that no two of its parts are alike. */
export async function makeFile(file: string, bytes: number): Promise<void> {
	await mkdir(folder, { recursive: true });
	const handle = await open(file, 'w');
	const block = Buffer.alloc(Math.min(bytes, 1024 * 1024));
	for (let at = 0; at < bytes; at += block.length) {
		crypto.getRandomValues(new Uint8Array(block.buffer, block.byteOffset, Math.min(65_536, block.length)));
		await handle.write(block, 0, Math.min(block.length, bytes - at));
	}
	await handle.close();
}

/** An n8n with a workflow for each side, and a stand-in that only takes files. */
export async function startUploads(file: string) {
	const google = await GoogleProcess.start();
	const n8n = await benchN8n({
		env: {
			N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			N8N_RESTRICT_FILE_ACCESS_TO: folder,
			GOOGLE_STAND_IN: google.url,
			NODE_OPTIONS: `--require=${path.join(import.meta.dirname, 'redirectGoogle.cjs')}`,
		},
	});
	return {
		n8n,
		google,
		...(await createWorkflows(n8n, google.url, file)),
		close: async (): Promise<void> => {
			await n8n.remove();
			google.stop();
			await rm(folder, { recursive: true, force: true });
		},
	};
}

/** @returns milliseconds for which the upload node ran */
export async function run(n8n: BenchN8n, stored: Stored): Promise<number> {
	const execution = await n8n.api.untilDone(await n8n.api.startRun(stored, 'Start'), 1_200_000);
	if (execution.status !== 'success') {
		const { message, description } = execution.resultData.error ?? { message: execution.status };
		throw new Error(`${stored.name}: ${message} ${description ?? ''}`);
	}
	await rm(path.join(n8n.userFolder, '.n8n', 'storage'), { recursive: true, force: true });
	return nodeMilliseconds(execution.resultData.runData, 'Upload');
}
