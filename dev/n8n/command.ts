import { spawn } from 'node:child_process';

/** A failure that is reported in one sentence, without a stack. */
export class MessageOnlyError extends Error {
	override readonly name = 'Sentence';
}

export interface CommandOptions {
	readonly cwd: string;
	readonly env?: NodeJS.ProcessEnv;
	readonly uid?: number;
	readonly gid?: number;
}

/** Runs a command to completion. @returns its output. @throws Error with its output if it fails */
export async function runCommand(
	command: string,
	args: readonly string[],
	options: CommandOptions,
): Promise<string> {
	const child = spawn(command, args, {
		...options,
		env: options.env ?? process.env,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let printed = '';
	let complaints = '';
	child.stdout.on('data', (data: Buffer) => {
		printed += data.toString();
	});
	child.stderr.on('data', (data: Buffer) => {
		complaints += data.toString();
	});
	const code = await new Promise<number | null>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', resolve);
	});
	if (code !== 0)
		throw new Error(
			`${command} ${args.join(' ')} ended with ${String(code)}\n${printed}${complaints}`,
		);
	return printed;
}
