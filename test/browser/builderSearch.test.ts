import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { getN8nFolder } from '../../dev/n8n/installN8n.ts';
import { resources } from '../../nodes/Workspace/resources';
import { N8nApi } from '../../dev/n8n/n8nApi.ts';
import { browserSuite } from './browserSuite';
import { phrases } from './phrases';

const operationCount = resources.flatMap(({ operations }) => operations).length;

interface SearchEngine {
	searchByName(query: string, limit?: number): Array<{ name: string; displayName: string }>;
}
type NodeTypes = ReadonlyArray<{ name: string; builderHint?: { searchHint?: string } }>;

let nodeTypes: NodeTypes;
let wholePhrase: SearchEngine;
let wordByWord: SearchEngine;

/** The search of n8n's AI builder, in both editions that n8n ships, over everything that is installed. */
beforeAll(async () => {
	const { n8nUrl } = browserSuite();
	const { cookie } = await N8nApi.signIn(n8nUrl);
	const answer = await fetch(`${n8nUrl}/types/nodes.json`, { headers: { cookie } });
	const all = (await answer.json()) as NodeTypes;
	nodeTypes = all.filter(({ name }) => !name.endsWith('Tool'));
	const n8n = createRequire(path.join(getN8nFolder(), 'package.json'));
	const engine = (file: string) =>
		new (
			n8n(file) as { NodeSearchEngine: new (nodes: NodeTypes) => SearchEngine }
		).NodeSearchEngine(nodeTypes);
	wholePhrase = engine(
		'./node_modules/@n8n/ai-workflow-builder/dist/tools/engines/node-search-engine.js',
	);
	wordByWord = engine('./node_modules/@n8n/ai-utilities/dist/cjs/node-catalog/search-engine.js');
});

const firstThree = (engine: SearchEngine, words: string) =>
	engine
		.searchByName(words)
		.slice(0, 3)
		.map(({ displayName }) => displayName);

test.each(phrases)('the builder finds for "%s" %s among the first three', (words, name) => {
	expect(firstThree(wholePhrase, words)).toContain(name);
});

/**
 * The newer edition looks for each word alone and weighs a node's own name more than an alias: where a word is in the name of many
 * nodes, such as "google", "email", "document", "trigger" or "execute", no alias comes near, not even those of n8n's own Google Sheets Trigger.
 */
const decidedByOtherWords = [
	...phrases.filter(
		([words]) =>
			!/google|gmail|send email|read email|mark email|search emails|email to row|mail merge|agent message|trigger|execute|document t/.test(
				words,
			),
	),
	...([
		['google workspace', 'Workspace'],
		['rows of spreadsheet', 'Workspace'],
		['write rows to spreadsheet', 'Workspace'],
		['read document', 'Workspace'],
		['markdown document', 'Workspace'],
		['agent session', 'Agent Session Trigger'],
		['listen to websocket', 'Agent Session Trigger'],
	] as const),
];

test.each(decidedByOtherWords)('word by word the builder finds for "%s" %s, too', (words, name) => {
	expect(firstThree(wordByWord, words)).toContain(name);
});

/** What the builder reads before it fills in a node: types made of the description, in a file for each operation. */
async function typesOf(node: string): Promise<string[]> {
	const n8n = createRequire(path.join(getN8nFolder(), 'package.json'));
	const { orchestrateGeneration } = n8n(
		'./node_modules/@n8n/workflow-sdk/dist/generate-types/generate-types.js',
	) as {
		orchestrateGeneration: (given: { nodes: NodeTypes; outputDir: string }) => Promise<unknown>;
	};
	const folder = await mkdtemp(path.join(tmpdir(), 'types-'));
	await orchestrateGeneration({
		nodes: nodeTypes.filter(({ name }) => name === node),
		outputDir: folder,
	});
	const files = (await readdir(folder, { recursive: true })).filter((file) =>
		/operation_\w+\.ts$/.test(file),
	);
	const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
	await rm(folder, { recursive: true });
	return texts;
}

test('the builder reads how to fill in each locator, each column mapper and the input object', async () => {
	const operations = await typesOf('n8n-nodes-agent-workspace.workspace');
	expect(operations).toHaveLength(operationCount);
	const parameters = operations.flatMap((text) => text.split('/**'));
	const named = (pattern: RegExp) =>
		parameters
			.filter((text) => pattern.test(text))
			.map((text) => /@builderHint (.*)/.exec(text)?.[1] ?? text);
	const locators = named(/\*\/\s+\w+\??: \{ __rl: true/);
	const mappers = named(/\*\/\s+\w+\??: ResourceMapperValue/);
	expect(locators.length).toBeGreaterThan(10);
	expect(mappers).toHaveLength(2);
	for (const hint of [...locators, ...mappers]) expect(hint).toMatch(/^Pass the whole object/);
	const objects = named(/\*\/\s+inputObject\?:/);
	expect(objects).toEqual(
		Array(operationCount).fill(expect.stringMatching(/^One expression for the whole object/)),
	);
});

test('the builder reads what several parameters do together, with the operation that it fills in alone', async () => {
	const operations = await typesOf('n8n-nodes-agent-workspace.workspace');
	const titles = operations
		.map((text) => /<pattern title="([^"]*)">/.exec(text)?.[1])
		.filter(Boolean);
	expect(titles.toSorted()).toEqual([
		'A letter or invoice from a template, as a PDF by email',
		'A model may write, and a person sends',
		'Process each new email once',
		'Process each new email once',
		'Update a row, or add it if it is missing',
	]);
});

test('the builder reads when to take which node', () => {
	const ours = nodeTypes.filter(({ name }) => name.startsWith('n8n-nodes-agent-workspace.'));
	expect(ours).toHaveLength(3);
	for (const { builderHint } of ours) expect(builderHint?.searchHint).toMatch(/\w{3}/);
});
