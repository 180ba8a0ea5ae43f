import { execFile } from 'node:child_process';
import path from 'node:path';

/** What `npm start` says, and the code that it ends with. */
async function start(...args: string[]): Promise<{ code: unknown; said: string }> {
	const script = path.join(__dirname, '..', '..', 'dev', 'start.ts');
	return await new Promise((resolve) => {
		execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
			resolve({ code: error?.code, said: `${stdout}${stderr}`.trim() });
		});
	});
}

test.each([
	[
		['--prot', '1'],
		"Unknown option '--prot'. What can be chosen: npm start -- --port 5678 --agent-port 3010",
	],
	[
		['nonsense'],
		"Unexpected argument 'nonsense'. What can be chosen: npm start -- --port 5678 --agent-port 3010",
	],
	[['--port', 'abc'], "--port must be a port from 1 to 65535, but it is 'abc'."],
])('%j gets one sentence', async (args, said) => {
	expect(await start(...args)).toEqual({ code: 1, said });
});
