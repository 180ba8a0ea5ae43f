// Nobody publishes by accident, and nothing in the package depends on a name that its owner has not given yet.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import manifest from '../../package.json';
import { root, Stage } from './built';

const stage = new Stage();

afterAll(() => {
	stage.remove();
});

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** @returns what it says when it refuses, or nothing */
function prepublish(env: Record<string, string> = {}): string {
	try {
		execFileSync('npm', ['run', 'prepublishOnly'], {
			cwd: stage.folder,
			encoding: 'utf8',
			stdio: 'pipe',
			env: { ...process.env, GITHUB_REF_NAME: '', ...env },
		});
		return '';
	} catch (error) {
		return (error as { stderr: string }).stderr;
	}
}

test('nothing of ours runs when the package is installed', () => {
	for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'])
		expect(manifest.scripts).not.toHaveProperty(name);
	expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
});

test('publishing is refused while owner, repository and contact are placeholders', () => {
	writeFileSync(path.join(stage.folder, 'CHANGELOG.md'), `## ${manifest.version} (unreleased)\n`);
	const said = prepublish();
	for (const name of ['author', 'homepage', 'repository', 'bugs'])
		expect(said).toContain(`package.json still has a placeholder in "${name}"`);
	expect(said).toContain(`CHANGELOG.md has no dated section for ${manifest.version}`);
	expect(said).toContain('the tag is');
});

test('a release with an owner, a dated section and its tag goes through, on the own Node of the runner', () => {
	const own = {
		...manifest,
		author: { name: 'Ada', email: 'ada@agents.dev' },
		homepage: 'https://github.com/ada/nodes#readme',
		repository: { type: 'git', url: 'git+https://github.com/ada/nodes.git' },
		bugs: { url: 'https://github.com/ada/nodes/issues' },
	};
	writeFileSync(path.join(stage.folder, 'package.json'), JSON.stringify(own));
	writeFileSync(path.join(stage.folder, 'CHANGELOG.md'), `## ${manifest.version} (2026-01-31)\n`);
	const tag = { GITHUB_REF_NAME: `v${manifest.version}` };
	const said = prepublish(tag);
	const reasons = said.split('\n').filter((line) => line.startsWith('- '));
	const fromModules = process.execPath.includes('node_modules');
	expect(reasons).toEqual(
		fromModules ? [expect.stringContaining('comes from node_modules')] : [],
	);
});

test('the addresses in what is built are those of package.json', () => {
	writeFileSync(
		path.join(stage.folder, 'package.json'),
		JSON.stringify({ ...manifest, homepage: 'https://agents.dev/nodes#readme' }),
	);
	const { ownAddress } = jest.requireActual<{
		ownAddress: (root: string) => (text: string) => string;
	}>('../../build/ownAddress');
	const addressed = ownAddress(stage.folder);
	const codex = addressed(read('nodes/Workspace/Workspace.node.json'));
	expect(codex).toContain('"https://agents.dev/nodes/blob/main/docs/workspace.md"');
	expect(codex + addressed(read('credentials/AgentApi.credentials.ts'))).not.toContain(
		'github.com',
	);
});

test('owner and repository are named in package.json only', () => {
	const tracked = execFileSync('git', ['ls-files', '*.md', 'docs', '.github'], { cwd: root });
	const files = String(tracked)
		.split('\n')
		.filter((file) => /^([A-Z]+|docs.*|\.github.*)\.(md|yml)$/.test(file));
	expect(files.length).toBeGreaterThan(20);
	const address = /github(usercontent)?\.com\/n8n-nodes-agent-workspace|maintainers@/;
	expect(files.filter((file) => address.test(read(file)))).toEqual([]);
});

test('the workflows run only actions that are pinned to a commit', () => {
	for (const file of readdirSync(path.join(root, '.github', 'workflows'))) {
		const used = read(`.github/workflows/${file}`).match(/uses: .*/g) ?? [];
		for (const action of used) expect(action).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d/);
	}
});

test('a release builds without install scripts, in a job that only then may write', () => {
	const workflow = read('.github/workflows/release.yml');
	expect(workflow).toMatch(
		/needs: test[\s\S]*id-token: write[\s\S]*npm ci --ignore-scripts[\s\S]*npm publish/,
	);
});
