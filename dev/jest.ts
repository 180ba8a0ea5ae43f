import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { root } from './n8n/installN8n.ts';

export const jestProgram = path.join('node_modules', 'jest', 'bin', 'jest.js');

/** Runs jest to its end, in this terminal. @returns its exit code */
export async function runJest(
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<number> {
	const jest = spawn(process.execPath, [jestProgram, ...args], {
		cwd: root,
		stdio: 'inherit',
		env: { ...process.env, ...env },
	});
	const [code] = (await once(jest, 'close')) as [number | null];
	return code ?? 1;
}
