// What a newcomer does first in `npm start`: runs each example. Those with a manual trigger start
// all alike: one of them is opened and started by n8n's button, as all others are.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';

import { buildDemoAnswer, callBack } from '../../dev/agent-service/demo.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { startDemoModel } from '../../dev/chat-model/demo.ts';
import { type ImportedExample, importExamples } from '../../dev/examples.ts';
import { demoSpreadsheet, seedDemo } from '../../dev/google/demo.ts';
import { type GoogleServer, startGoogle } from '../../dev/google/server.ts';
import { fetchPublished } from '../../dev/n8n/forms.ts';
import type { Execution, WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { McpClient } from '../e2e/mcpClient';
import { Chat } from './canvasChat';
import { Editor } from './editor';

const apiKey = 'examples-by-button';
const callers = 'examples-by-button-token';
let agent: AgentService;
let google: GoogleServer;
let model: Awaited<ReturnType<typeof startDemoModel>>;
let editor: Editor;
let examples: ImportedExample[];

beforeAll(async () => {
	agent = await startAgentService({
		apiKey,
		answer: (request) => {
			void callBack(request);
			return buildDemoAnswer(request);
		},
	});
	google = await startGoogle();
	seedDemo(google);
	model = await startDemoModel();
	editor = await Editor.open();
	const { url, webSocketUrl } = agent;
	const services = {
		agent: { url, webSocketUrl, apiKey },
		google,
		callers,
		modelUrl: model.url,
		label: 'by button',
	};
	examples = await importExamples(editor.api, services);
});
afterEach(async () => {
	await editor.picture();
});
afterAll(async () => {
	for (const { workflow } of examples)
		await editor.api.request('POST', `workflows/${workflow.id}/archive`);
	await editor.close();
	await Promise.all([agent.close(), google.close(), model.close()]);
});

/** Fills in and submits each page of a form, until the execution has ended. */
async function fillForm(form: Page, hasEnded: () => boolean): Promise<void> {
	const submit = form.locator('#submit-btn');
	while (!hasEnded()) {
		await new Promise((resolve) => setTimeout(resolve, 200));
		if (!(await submit.isEnabled({ timeout: 1000 }).catch(() => false))) continue;
		for (const field of await form.locator('textarea, input[type="text"]').all())
			await field.fill('A greeting');
		await submit.click();
	}
}

const click = async () => {
	await editor.start(editor.page.getByTestId('execute-workflow-button'));
};
/** What a person does to start the workflow, by the type of the trigger that n8n's button chooses. The first type decides. */
const starts = {
	formTrigger: async (hasEnded: () => boolean) => {
		const popup = editor.page.waitForEvent('popup');
		await click();
		const form = await popup;
		await fillForm(form, hasEnded);
		await form.close();
	},
	webhook: async () => {
		await click();
		await fetchPublished(`${editor.url}/webhook-test/workspace`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-token': callers },
			body: JSON.stringify({ operation: 'list', maxResults: 10 }),
		});
	},
	manualTrigger: click,
	chatTrigger: async () => {
		const chat = new Chat(editor);
		await chat.open();
		await chat.type('How many rows has the sheet?');
	},
	mcpTrigger: async () => {
		await click();
		const client = new McpClient(`${editor.url}/mcp-test/workspace-mcp`, callers);
		await client.connect();
		await client.call('List_emails', {});
	},
};

/** They start like others here. test/e2e and chat.test.ts use them to their end. */
const usedElsewhere = [
	'agent-answers-start-a-workflow.json',
	'approve-before-sending.json',
	'chat-with-the-agent.json',
	'form-file-to-drive.json',
];
const files = readdirSync(path.join(__dirname, '..', '..', 'examples')).filter(
	(name) => name.endsWith('.json') && !usedElsewhere.includes(name),
);

const startOf = ({ nodes }: WorkflowDefinition) => {
	const types = nodes.map(({ type }) => String(type).split('.').at(-1));
	return Object.entries(starts).find(([type]) => types.includes(type))?.[1];
};

async function runByClick(workflow: ImportedExample['workflow']): Promise<Execution> {
	await editor.openWorkflow(workflow);
	let hasEnded = false;
	const ended = editor.api.untilTriggered(workflow, undefined, { mode: 'manual' }).finally(() => {
		hasEnded = true;
	});
	// Where the start fails, that is told, and not that nothing ended.
	ended.catch(() => undefined);
	await startOf(workflow)?.(() => hasEnded);
	const execution = await ended;
	await editor.page.getByTestId('canvas-node-status-success').first().waitFor();
	expect(await editor.page.getByTestId('canvas-node-status-error').count()).toBe(0);
	return execution;
}

test.each(files)('%s ends green', async (file) => {
	const workflow = examples.find((one) => one.file === file)?.workflow;
	if (!workflow) throw new Error('The example was not imported');
	const isClicked = startOf(workflow) !== click || file === 'run-an-agent.json';
	const { status, resultData } = await (isClicked
		? runByClick(workflow)
		: editor.api.run(workflow));
	const errors = Object.values(resultData.runData).flatMap((runs) =>
		runs.flatMap(({ error }) => error ?? []),
	);
	expect([status, errors]).toEqual(['success', []]);
});

test('what `npm start` has put there is what the examples with sheets read and change', () => {
	const rows = (tab: string) => google.sheets.values(demoSpreadsheet.id, tab);
	expect(rows('Tasks').map(([, state]) => state)).toEqual(['state', 'done', 'done']);
	expect(rows('Questions').map(([, state]) => state)).toEqual(['state', 'done', 'done']);
	expect(rows('Mails').length).toBeGreaterThan(1);
	const names = google.files.listAll().map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(['figures.csv', 'note.txt']));
	const [, documentId = ''] =
		/\/document\/d\/([^/]+)\/edit$/.exec(String(rows('Orders')[1]?.[3])) ?? [];
	expect(google.docs.text(documentId)).toBe('Dear Ann,\n\nthank you for your order A-1.\n');
});
