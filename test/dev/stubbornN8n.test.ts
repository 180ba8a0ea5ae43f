// An n8n that ignores SIGTERM, and has started a process of its own, is ended all the same; one that somebody else ends is noticed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startN8n } from '../../dev/n8n/startN8n.ts';

const program = `
	if (process.env.DIES) process.kill(process.pid, 'SIGKILL');
	const { createServer } = require('node:http');
	const { spawn } = require('node:child_process');
	const child = spawn('sleep', ['600'], { stdio: 'ignore' });
	process.on('SIGTERM', () => {});
	require('node:fs').writeFileSync(process.env.N8N_USER_FOLDER + '/child', String(child.pid));
	createServer((request, response) => {
		response.setHeader('set-cookie', 'n8n-auth=1');
		response.end('{}');
	}).listen(process.env.N8N_PORT, '127.0.0.1');`;

const folder = mkdtempSync(path.join(tmpdir(), 'stubborn-n8n-'));

beforeAll(() => {
	const bin = path.join(folder, 'host', 'node_modules', 'n8n', 'bin');
	mkdirSync(bin, { recursive: true });
	writeFileSync(path.join(bin, 'n8n'), program);
	writeFileSync(path.join(folder, 'host', '.ready'), '');
	process.env.N8N_HOST_DIR = path.join(folder, 'host');
});

afterAll(() => {
	delete process.env.N8N_HOST_DIR;
	rmSync(folder, { recursive: true });
});

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		// A dead process that nobody has taken away yet still takes signals.
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch (error) {
		return existsSync('/proc/self') ? false : !(error as Error).message.includes('ESRCH');
	}
}

test('stop() ends it and what it started', async () => {
	const userFolder = path.join(folder, 'user');
	const n8n = await startN8n({ userFolder, ownGroup: true, patienceMilliseconds: 200 });
	const child = Number(readFileSync(path.join(userFolder, 'child'), 'utf8'));
	expect([isRunning(n8n.pid), isRunning(child)]).toEqual([true, true]);

	await n8n.stop();

	expect(isRunning(n8n.pid)).toBe(false);
	// It has been sent SIGKILL, and ends when the machine lets it run.
	while (isRunning(child)) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('an end by somebody else is noticed, also while it starts', async () => {
	const userFolder = path.join(folder, 'killed');
	const n8n = await startN8n({ userFolder, ownGroup: true, patienceMilliseconds: 200 });
	process.kill(n8n.pid, 'SIGKILL');
	await n8n.ended;
	await n8n.stop();

	const start = startN8n({ userFolder, env: { DIES: 'yes' } });
	await expect(start).rejects.toThrow('n8n ended while it started.');
});
