// Rules that hold for the package, every node and every operation.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ICredentialType, INodeProperties, INodeType } from 'n8n-workflow';

import manifest from '../package.json';
import { resources } from '../nodes/Workspace/resources';
import { toolDescriptions } from '../nodes/Workspace/properties';

const root = path.join(__dirname, '..');
const source = (output: string) =>
	path.join(root, output.replace(/^dist\//, '').replace(/\.js$/, '.ts'));

function load(output: string): unknown {
	const exported = jest.requireActual<Record<string, new () => unknown>>(source(output));
	const name = path.basename(output).split('.')[0] ?? '';
	const found = exported[name];
	if (!found) throw new Error(`${output} does not export ${name}`);
	return new found();
}

const nodes = manifest.n8n.nodes.map((output) => [output, load(output) as INodeType] as const);
const credentials = manifest.n8n.credentials.map(
	(output) => [output, load(output) as ICredentialType] as const,
);

describe('the package', () => {
	test('has no runtime dependency, one peer, and ships only what is built', () => {
		expect(manifest).not.toHaveProperty('dependencies');
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
		// npm would otherwise install n8n-workflow with its 160 packages a second time.
		expect(manifest.peerDependenciesMeta).toEqual({ 'n8n-workflow': { optional: true } });
		expect(manifest.files).toEqual(['dist']);
	});

	test('pins every development dependency exactly', () => {
		for (const [name, version] of Object.entries(manifest.devDependencies)) {
			expect(`${name}@${version}`).toMatch(/@\d+\.\d+\.\d+$/);
		}
	});

	test('names every node and credential that there is', () => {
		const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
			.filter(
				(file) =>
					/^(nodes|credentials)\//.test(file) && /\.(node|credentials)\.ts$/.test(file),
			)
			.map((file) => `dist/${file.replace(/\.ts$/, '.js')}`);
		expect([...manifest.n8n.nodes, ...manifest.n8n.credentials].sort()).toEqual(files.sort());
	});
});

const readme = readFileSync(path.join(root, 'README.md'), 'utf8').replaceAll(/ +/g, ' ');

test.each(readdirSync(path.join(root, 'examples')))(
	'the example %s is in the docs, with a sentence and a picture',
	(file) => {
		const picture = `images/${file.replace(/\.json$/, '.png')}`;
		const page = readFileSync(path.join(root, 'docs', 'examples.md'), 'utf8');
		expect(page).toContain(`](${picture})`);
		expect(page).toMatch(
			new RegExp(String.raw`^\S.+\. File: \[\`${file}\`\]\(\.\./examples/${file}\)$`, 'm'),
		);
		expect(existsSync(path.join(root, 'docs', picture))).toBe(true);
	},
);

describe.each(nodes)('%s', (output, { description }) => {
	test('is named after its file, has light and dark icons that differ, and a codex with resources', () => {
		const folder = path.dirname(source(output));
		expect(description.name.toLowerCase()).toBe(
			path.basename(output).split('.')[0]?.toLowerCase(),
		);
		const { light, dark } = description.icon as { light: string; dark: string };
		const icon = (name: string) =>
			readFileSync(path.join(folder, name.replace('file:', '')), 'utf8');
		expect(icon(light)).not.toBe(icon(dark));
		const codex = JSON.parse(
			readFileSync(source(output).replace(/\.ts$/, '.json'), 'utf8'),
		) as Record<string, unknown>;
		expect(codex).toMatchObject({
			node: `n8n-nodes-agent-workspace.${description.name}`,
			resources: expect.any(Object) as object,
		});
	});

	test('asks only for credentials of this package', () => {
		const known = credentials.map(([, { name }]) => name);
		for (const { name } of description.credentials ?? []) expect(known).toContain(name);
	});

	test('describes every parameter, in order and without a full stop at the end of one sentence', () => {
		for (const property of everyProperty(description.properties)) {
			if (
				property.type === 'notice' ||
				property.type === 'hidden' ||
				property.type === 'collection'
			)
				continue;
			expect([property.name, property.displayName]).toEqual([
				expect.any(String),
				expect.stringMatching(/^[A-Z]/),
			]);
			if (property.type === 'boolean')
				expect(`${property.name}: ${property.description ?? ''}`).toMatch(/: Whether /);
		}
	});
});

describe.each(credentials)('%s', (_output, credential) => {
	test("keeps its secrets away from n8n's HTTP Request node unless the owner says otherwise", () => {
		const field = credential.properties.find(
			({ name }) => name === 'allowedHttpRequestDomains',
		);
		expect(field?.default).toBe('none');
	});

	test('masks what is secret', () => {
		for (const { name, typeOptions } of credential.properties) {
			if (/^(apiKey|signature|privateKey)$/.test(name))
				expect(typeOptions?.password).toBe(true);
		}
	});
});

const operations = resources.flatMap((resource) =>
	resource.operations.map((operation) => [resource, operation] as const),
);

test('the operations are exactly those of the flow', () => {
	expect(operations.map(([resource, { value }]) => `${resource.value} ${value}`).sort()).toEqual(
		[
			...['send', 'list', 'search', 'read'].map((value) => `mail ${value}`),
			...['create', 'read', 'write', 'append'].flatMap((value) => [
				`spreadsheet ${value}`,
				`document ${value}`,
			]),
			'file upload',
		].sort(),
	);
});

describe.each(
	operations.map(
		([resource, operation]) =>
			[`${resource.value} ${operation.value}`, resource, operation] as const,
	),
)('%s', (_name, resource, operation) => {
	test('stands in the file that is named after it', () => {
		const file = `nodes/Workspace/actions/${resource.value}/${operation.value}.operation.ts`;
		expect(existsSync(path.join(root, file))).toBe(true);
	});

	test('has an action without an article, and field names that are unique', () => {
		expect(operation.action).not.toMatch(/\b(a|an|the)\b/i);
		const names = [...operation.fields, ...operation.options].map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
	});

	test('tells a model in under 1,024 characters what it does, and when that cannot be undone', () => {
		const told = toolDescriptions.findLast(
			({ displayOptions }) =>
				displayOptions?.show?.resource?.[0] === resource.value &&
				displayOptions.show.operation?.[0] === operation.value,
		);
		const text = told?.default as string;
		expect(text.startsWith(operation.modelDescription)).toBe(true);
		expect(text.length).toBeLessThan(1024);
		if (['write', 'send'].includes(operation.value))
			expect(text).toMatch(/Destructive|cannot be undone/);
	});

	test('is in the README', () => {
		expect(readme).toContain(
			`| ${resource.name} | ${operation.name} | ${operation.description} |`,
		);
	});
});

function everyProperty(properties: readonly INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) => [
		property,
		...(property.type === 'collection'
			? everyProperty(property.options as INodeProperties[])
			: []),
	]);
}
