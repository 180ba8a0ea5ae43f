// What is shipped: how big it is, what is in which file, whose code and under which licence, and that packing is safe.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { INodeType } from 'n8n-workflow';

import manifest from '../../package.json';
import {
	type Built,
	type BundledPackage,
	loadedWith,
	type Packed,
	packagesIn,
	root,
	Stage,
} from './built';

const stage = new Stage();
let files: readonly Built[];
let packages: readonly BundledPackage[];
let packed: Packed;

beforeAll(() => {
	({ files, packages } = stage.build());
	packed = stage.pack('first');
});

afterAll(() => {
	stage.remove();
});

const sizeOf = (fileName: string) => statSync(path.join(stage.dist, fileName)).size;
const lazyFiles = () => files.filter(({ isLazy }) => isLazy).map(({ fileName }) => fileName);

/** What a script prints that loads built files as n8n does. */
const printedBy = (script: string, ...given: string[]) =>
	execFileSync(process.execPath, ['-e', script, ...given], {
		encoding: 'utf8',
		env: { ...process.env, NODE_PATH: path.join(root, 'node_modules') },
	});

test('all of it is at most 1.5 MB unpacked and 420 kB packed', () => {
	expect(packed.unpackedSize).toBeLessThanOrEqual(1_500_000);
	expect(packed.size).toBeLessThanOrEqual(420_000);
});

test('the tarball holds the build, the manifest, the licence and the README, and no source or test', () => {
	const others = packed.files
		.map((file) => file.path)
		.filter((file) => !file.startsWith('dist/'));
	expect(others.sort()).toEqual(['LICENSE.md', 'README.md', 'package.json']);
	expect(
		packed.files.filter((file) => /(^|\/)test\/|\.test\.|\.(ts|map)$/.test(file.path)),
	).toEqual([]);
});

/** What more than one of the entries needs at once: n8n loads it with the first of them. */
const core = 'chunks/core.js';

/** Bytes that n8n reads when it loads the file, with what is loaded along with it but for the core. */
const entryLimits: Readonly<Record<string, number>> = {
	'nodes/Agent/AgentExecute/AgentExecute.node.js': 22_000,
	'nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node.js': 12_000,
	'nodes/Workspace/Workspace.node.js': 105_000,
	'credentials/AgentApi.credentials.js': 10_000,
	'credentials/AgentSignatureApi.credentials.js': 10_000,
	'credentials/WorkspaceOAuth2Api.credentials.js': 10_000,
	'credentials/WorkspaceServiceAccountApi.credentials.js': 16_000,
};

test.each([...Object.entries(entryLimits), [core, 12_000] as const])(
	'%s is at most %i bytes',
	(entry, limit) => {
		const bytes = loadedWith(entry, files)
			.filter(({ fileName }) => fileName === entry || fileName !== core)
			.reduce((sum, { fileName }) => sum + sizeOf(fileName), 0);
		expect(bytes).toBeLessThanOrEqual(limit);
	},
);

test('what n8n loads at its start is at most 150 kB in at most 9 files', () => {
	const loaded = new Set(Object.keys(entryLimits).flatMap((entry) => loadedWith(entry, files)));
	expect(
		[...loaded].reduce((sum, { fileName }) => sum + sizeOf(fileName), 0),
	).toBeLessThanOrEqual(150_000);
	expect(loaded.size).toBeLessThanOrEqual(9);
});

test("the nodes' properties, computed while building, are those of the sources", () => {
	for (const file of manifest.n8n.nodes) {
		const name = path.basename(file).split('.')[0] ?? '';
		const script = `console.log(JSON.stringify(new (require(process.argv[1])[process.argv[2]])().description.properties))`;
		const built = printedBy(script, path.join(stage.folder, file), name);
		const { [name]: Source } = jest.requireActual<Record<string, new () => INodeType>>(
			path.join(root, file.replace('dist/', '').replace('.js', '.ts')),
		);
		if (Source === undefined) throw new Error(`${file} has no class ${name}`);
		const source = JSON.stringify(new Source().description.properties);
		expect(JSON.parse(built)).toEqual(JSON.parse(source));
	}
});

test('a worker thread does not load n8n', () => {
	const ofThread = files.filter(({ fileName }) => /nodes\/untrusted\//.test(fileName));
	expect(ofThread.length).toBeGreaterThan(5);
	for (const { fileName } of ofThread) {
		const loaded = loadedWith(fileName, files).map((file) =>
			readFileSync(path.join(stage.dist, file.fileName), 'utf8'),
		);
		expect(loaded.filter((code) => /require\(["'`]n8n-workflow/.test(code))).toEqual([]);
	}
});

test('every entry that n8n loads has a limit', () => {
	const entries = [...manifest.n8n.nodes, ...manifest.n8n.credentials].map((file) =>
		file.replace('dist/', ''),
	);
	expect(Object.keys(entryLimits).sort()).toEqual(entries.sort());
});

const ofEntries = ['p-limit', 'yocto-queue'];

test.each(Object.keys(entryLimits))('%s loads only small packages at once', (entry) => {
	expect(ofEntries).toEqual(expect.arrayContaining(packagesIn(loadedWith(entry, files))));
});

/** By its place in the source tree: the packages that a lazily loaded file may bring along. */
const lazyContents: ReadonlyArray<[RegExp, RegExp]> = [
	[
		/session\/webSocket\.js$/,
		/^(ws|https-proxy-agent|agent-base|proxy-agent-negotiate|proxy-from-env)$/,
	],
	[/AgentExecute\/run\.js$/, /^content-disposition$/],
	[/google\/clients\.js$/, /^(googleapis|googleapis-common|url-template|extend)$/],
	[/mail\/send\/sendMail\.js$/, /^(nodemailer|email-addresses|mime-types|mime-db)$/],
	[/(mimeTypes|file\/mailAttachment)\.js$/, /^(mime-types|mime-db)$/],
	[/untrusted\/html\/htmlToText\.js$/, /^(htmlparser2|entities)$/],
	[/untrusted\/mail\/readMail\.js$/, /^(htmlparser2|entities|nodemailer|mime-types|mime-db)$/],
	[
		/untrusted\/markdown\/\w+\.js$/,
		/^(micromark(-.+)?|mdast-util-.+|unist-util-.+|ccount|entities|devlop|escape-string-regexp|longest-streak|markdown-table|zwitch)$/,
	],
];

test('a lazily loaded file brings along only what it is there for', () => {
	for (const file of lazyFiles()) {
		const allowed = lazyContents.find(([place]) => place.test(file))?.[1];
		const foreign = packagesIn(loadedWith(file, files)).filter(
			(name) => !ofEntries.includes(name) && !allowed?.test(name),
		);
		expect([file, foreign]).toEqual([file, []]);
	}
});

test('no module is in two files, and no package comes in two versions', () => {
	const inputs = files.flatMap((file) => file.inputs);
	expect(inputs.filter((input, index) => inputs.indexOf(input) !== index)).toEqual([]);
	const names = packages.map(({ name }) => name);
	expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('what is never reached is left out', () => {
	const ofGoogle = ['gaxios', 'qs', 'google-auth-library', 'node-fetch'];
	const dead = [...ofGoogle, 'debug', 'supports-color', 'bufferutil'];
	expect(packages.map(({ name }) => name).filter((name) => dead.includes(name))).toEqual([]);
});

test('the bill of materials names every package whose code is inside, with its version', () => {
	const { components } = JSON.parse(
		readFileSync(path.join(stage.dist, 'sbom.cdx.json'), 'utf8'),
	) as { components: Array<{ name: string; version: string; purl: string }> };
	const listed = components.map(({ name, version }) => `${name}@${version}`).sort();
	expect(listed).toEqual(packages.map(({ name, version }) => `${name}@${version}`).sort());
	expect(listed).toEqual(
		expect.arrayContaining(['ws', 'nodemailer', 'htmlparser2'].map(installed)),
	);
	expect(components.find(({ name }) => name === 'ws')?.purl).toMatch(/^pkg:npm\/ws@\d/);
});

function installed(name: string): string {
	const { version } = JSON.parse(
		readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8'),
	) as { version: string };
	return `${name}@${version}`;
}

test('every bundled package is under a licence that lets us ship it, and is named in the notices', () => {
	const allowed = ['MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];
	const notices = readFileSync(path.join(stage.dist, 'THIRD_PARTY_NOTICES.txt'), 'utf8');
	for (const { name, license } of packages) {
		expect(allowed).toContain(license);
		expect(notices).toContain(`\n${name} `);
	}
});

test('icons, codex files and output schemas stand beside the files that name them', () => {
	const shipped = packed.files.map((file) => file.path);
	for (const node of manifest.n8n.nodes) expect(shipped).toContain(`${node}on`);
	const command = ['ls-files', 'nodes', 'credentials'];
	const assets = execFileSync('git', command, { cwd: root, encoding: 'utf8' })
		.split('\n')
		.filter((file) => /\.(svg|png)$|__schema__\/.*\.json$/.test(file));
	expect(shipped).toEqual(expect.arrayContaining(assets.map((file) => `dist/${file}`)));
});

test('the built files load, with their class names, and know the same classes', () => {
	const script = `
		const load = (file) => require(require('node:path').join(process.argv[1], file));
		const { nodes, credentials } = ${JSON.stringify(manifest.n8n)};
		for (const file of [...nodes, ...credentials]) {
			const name = file.split('/').at(-1).split('.')[0];
			console.log(new (load(file)[name])().constructor.name);
		}`;
	const printed = printedBy(script, stage.folder);
	const names = [...manifest.n8n.nodes, ...manifest.n8n.credentials].map(
		(file) => path.basename(file).split('.')[0],
	);
	expect(printed.trim().split('\n')).toEqual(names);
	const failure = files.filter(({ inputs }) => inputs.includes('nodes/core/errors.ts'));
	expect(failure).toHaveLength(1);
});

describe('packing', () => {
	test('gives the same bytes for the same sources', () => {
		rmSync(stage.dist, { recursive: true });
		stage.build();
		expect(stage.pack('second').bytes.equals(packed.bytes)).toBe(true);
	});

	test('is refused when the build was changed, when the sources were, and without a build', () => {
		const notices = path.join(stage.dist, 'THIRD_PARTY_NOTICES.txt');
		const original = readFileSync(notices);
		appendFileSync(notices, 'more');
		expect(() => stage.pack('refused')).toThrow(/The build was changed after it was made/);
		writeFileSync(notices, original);

		appendFileSync(path.join(stage.folder, 'nodes/core/errors.ts'), '\n');
		expect(() => stage.pack('refused')).toThrow(/The sources have changed since the build/);

		rmSync(stage.dist, { recursive: true });
		expect(() => stage.pack('refused')).toThrow(/There is no complete build/);
	});
});
