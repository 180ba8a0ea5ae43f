// The table of CONTRIBUTING.md: in how many product files code runs, by V8's own count of calls. `npm run docs -- file-counts` measures
// it anew and names the files.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';

import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { type GoogleServer, startGoogle } from '../../dev/google/server';
import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { apiKey, signer } from '../Agent/AgentExecute/executeRun';
import { TriggerRun, until } from '../Agent/AgentSessionTrigger/triggerRun';
import { createExecuteContext, withBinaryData } from '../createExecuteContext';
import { createNodeContext, token } from '../Workspace/runNode';
import { generatedPart } from './generatedPart';

const root = path.join(__dirname, '..', '..');
const inspector = new Session();
let service: AgentService;
let google: GoogleServer;

beforeAll(async () => {
	await withBinaryData();
	inspector.connect();
	await inspector.post('Profiler.enable');
	await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
	service = await startAgentService({
		apiKey,
		messages: () => [{ type: 'step' }, { type: 'answer' }],
	});
	google = await startGoogle();
	google.tokens.issue({ token });
});

afterAll(async () => {
	await inspector.post('Profiler.stopPreciseCoverage');
	inspector.disconnect();
	await service.close();
	await google.close();
});

/** Product files of which a function was called since the question before, from the root of the package. */
async function executed(): Promise<string[]> {
	const { result } = await inspector.post('Profiler.takePreciseCoverage');
	return result
		.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
		.map(({ url }) => path.relative(root, url.replace(/^file:\/\//, '')))
		.filter((file) => file.startsWith('nodes/'))
		.sort();
}

type Call = () => Promise<unknown>;

/** A call is made once before it is counted, so that loading a module counts for nothing, nor does preparing the call. */
async function filesOf(prepare: () => Call): Promise<string[]> {
	await prepare()();
	const call = prepare();
	await executed();
	await call();
	// A file that jest has loaded anew is told once for each time.
	return [...new Set(await executed())].sort();
}

const run =
	(nodeType: INodeType, context: IExecuteFunctions): Call =>
	async () =>
		await nodeType.execute?.call(context);

const agent = (parameters: IDataObject) => () => {
	const nodeType = new AgentExecute();
	const { url, webSocketUrl } = service;
	const credentials = {
		agentApi: { deploymentUrl: url, webSocketUrl, apiKey },
		agentSignatureApi: signer,
	};
	const authenticate = { agentApi: { 'x-api-key': apiKey } };
	const given = { startStepName: 'start', task: 'Say hello', ...parameters };
	return run(
		nodeType,
		createExecuteContext({ nodeType, credentials, authenticate, parameters: given }),
	);
};

const workspace = (parameters: IDataObject, json: IDataObject = {}) =>
	run(new Workspace(), createNodeContext({ url: google.url, parameters, items: [{ json }] }));

const rows = [
	['Order', 'Status'],
	['A-1', 'open'],
];

const sheet = (parameters: IDataObject, json: IDataObject) => () => {
	const spreadsheetId = google.sheets.seed({ title: 'Book', tabs: [{ title: 'Sheet1', rows }] });
	const common = { resource: 'spreadsheet', spreadsheetId, tab: 'Sheet1', valuesSource: 'items' };
	return workspace({ ...common, ...parameters }, json);
};

async function frame(): Promise<string[]> {
	const trigger = await new TriggerRun({ service }).start();
	try {
		await until(() => service.countOpenChannels('s1') === 1);
		return await filesOf(() => async () => {
			const before = trigger.emitted.length;
			service.send('s1', { type: 'answer' });
			await until(() => trigger.emitted.length > before);
		});
	} finally {
		await trigger.close();
	}
}

const untilAnswer = {
	waitForMessages: true,
	waitUntil: 'match',
	matchField: 'type',
	matchValue: 'answer',
};

const actions: Record<string, () => Promise<string[]>> = {
	'Agent Execute without Wait for Messages': async () => await filesOf(agent({})),
	'Agent Execute with Wait for Messages': async () => await filesOf(agent(untilAnswer)),
	'Spreadsheet: Append': async () =>
		await filesOf(sheet({ operation: 'append' }, { Order: 'A-2', Status: 'new' })),
	'Mail: Send': async () => {
		const mail = {
			resource: 'mail',
			operation: 'send',
			to: 'b@example.com',
			subject: 'Hello',
			body: 'Text',
		};
		return await filesOf(() => workspace(mail));
	},
	'Spreadsheet: Write with Match Columns': async () =>
		await filesOf(
			sheet(
				{ operation: 'write', writeMode: 'update', matchColumns: ['Order'] },
				{ Order: 'A-1', Status: 'paid' },
			),
		),
	'Agent Session Trigger, for one frame': frame,
};

/** Files that no call of the node needs: those of the other one. */
const foreign = (name: string) => (/^Agent/.test(name) ? /nodes\/Workspace\// : /nodes\/Agent\//);

test('a call executes no file of another node; how many it executes is measured', async () => {
	const found: Array<[string, string[]]> = [];
	for (const [name, listFiles] of Object.entries(actions)) found.push([name, await listFiles()]);
	for (const [name, files] of found) {
		expect(files).not.toEqual([]);
		expect([name, files.filter((file) => foreign(name).test(file))]).toEqual([name, []]);
	}
	if (!process.env.WRITE_DOCS) return;
	const table = [
		'| What the node does | Files |',
		'| --- | --- |',
		...found.map(([name, files]) => `| ${name} | ${files.length} |`),
	];
	const { target, current } = generatedPart(
		'../CONTRIBUTING.md',
		table.join('\n'),
		'npm run docs file-counts',
	);
	writeFileSync(target, current);
	mkdirSync(path.join(root, '.dev'), { recursive: true });
	const lists = found.map(
		([name, files]) =>
			`${files.length} ${name}\n${files.map((file) => `   ${file}\n`).join('')}`,
	);
	writeFileSync(path.join(root, '.dev', 'file-counts.txt'), lists.join('\n'));
});
