// What an n8n says that is too old: it loads the built files with its own n8n-workflow.
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import manifest from '../../package.json';
import { root, Stage } from './built';

const stage = new Stage();
beforeAll(() => {
	stage.build();
	// n8n makes its own modules known so.
	mkdirSync(modules);
	symlinkSync(path.join(root, 'node_modules', 'n8n-workflow-1.79'), path.join(modules, 'n8n-workflow'));
});
afterAll(() => {
	stage.remove();
});

const modules = path.join(stage.folder, 'old');

function load(file: string, nodePath: string): string {
	const { stderr } = spawnSync(
		process.execPath,
		['-e', `try { require(process.argv[1]) } catch (error) { console.error(String(error)) }`, file],
		{ encoding: 'utf8', cwd: stage.folder, env: { ...process.env, NODE_PATH: nodePath } },
	);
	return stderr.trim();
}

test.each(manifest.n8n.nodes)('%s names the n8n that it needs', (node) => {
	const file = path.join(stage.folder, node);
	expect(load(file, path.join(root, 'node_modules'))).toBe('');
	expect(load(file, modules)).toBe(
		'Error: n8n-nodes-agent-workspace needs n8n 1.123 or newer. Update n8n, then install it again.',
	);
});
