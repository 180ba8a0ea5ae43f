import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

import { onLoopback } from '../../dev/loopback';

const root = path.join(__dirname, '..', '..');

/** What npm reads about a package that has an advisory. */
const ws = {
	'dist-tags': { latest: '8.0.0' },
	versions: { '8.0.0': { name: 'ws', version: '8.0.0' } },
};

/** Runs the command against a registry that knows the advisories. @returns what was asked, what was said, and the exit code */
async function audited(advisories: object) {
	const folder = mkdtempSync(path.join(tmpdir(), 'sbom-'));
	let asked: unknown;
	const registry = createServer((request, response) => {
		void buffer(request).then((body) => {
			const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
			const isQuestion = request.url?.endsWith('/advisories/bulk');
			if (isQuestion) asked = JSON.parse(text.toString('utf8'));
			const answer = isQuestion ? advisories : { ...ws, name: request.url?.slice(1) };
			response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
		});
	});
	const listening = await onLoopback(registry);
	const components = [
		{ name: 'ws', version: '8.0.0' },
		{ name: '@scope/twice', version: '1.0.0' },
		{ name: '@scope/twice', version: '2.0.0' },
	];
	writeFileSync(path.join(folder, 'sbom.json'), JSON.stringify({ components }));
	const program = [path.join(root, 'dev', 'audit.ts'), path.join(folder, 'sbom.json')];
	const env = {
		...process.env,
		npm_config_registry: listening.url,
		npm_config_cache: path.join(folder, 'cache'),
	};
	const ended = await new Promise<{ code: number; said: string }>((resolve) => {
		const child = execFile(process.execPath, program, { env }, (_error, out, complaints) => {
			resolve({ code: child.exitCode ?? -1, said: out + complaints });
		});
	});
	await listening.close();
	rmSync(folder, { recursive: true });
	return { asked, ...ended };
}

test('npm is asked about every version that is inside, and nothing known is a success', async () => {
	const { asked, said, code } = await audited({});
	expect(asked).toEqual({ ws: ['8.0.0'], '@scope/twice': ['1.0.0', '2.0.0'] });
	expect(said).toContain('No advisory for the 3 packages inside dist.');
	expect(code).toBe(0);
});

test('an advisory is named and fails', async () => {
	const advisory = {
		id: 1,
		url: 'https://github.com/advisories/GHSA-test',
		title: 'Denial of service in ws',
		severity: 'high',
		vulnerable_versions: '<8.17.1',
	};
	const { said, code } = await audited({ ws: [advisory] });
	expect(said).toContain('Denial of service in ws');
	expect(code).toBe(1);
});
