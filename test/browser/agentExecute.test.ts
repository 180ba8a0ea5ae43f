import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { importExamples } from '../../dev/examples.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { Editor } from './editor';
import { clickUntil } from './person';

const apiKey = 'browser-test-key';
let service: AgentService;
let google: GoogleServer;
let editor: Editor;
let page: Editor['page'];
let workflows: Map<string, { id: string }>;

beforeAll(async () => {
	service = await startAgentService({ apiKey });
	google = await startGoogle();
	editor = await Editor.open();
	({ page } = editor);
	const examples = await importExamples(editor.api, {
		agent: { url: service.url, webSocketUrl: service.webSocketUrl, apiKey },
		google,
	});
	workflows = new Map(examples.map(({ workflow }) => [workflow.name, workflow]));
});
afterAll(async () => {
	await editor.close();
	await google.close();
	await service.close();
});
afterEach(async () => {
	await editor.picture();
});

async function openWorkflow(name = 'Run an agent'): Promise<void> {
	await editor.openWorkflow({ id: workflows.get(name)?.id ?? '' });
}

async function openNode(): Promise<void> {
	await openWorkflow();
	await editor.openNode('Agent Execute');
}

test('both credentials are told apart, and the payload switches between two texts and JSON', async () => {
	await openNode();
	const labels = await page.getByTestId('credentials-label').allInnerTexts();
	expect(labels.map((label) => label.trim())).toEqual(['Agent API', 'Agent Signature API']);
	await editor.chooseValue('payloadMode', 'json');
	await page.getByTestId('parameter-input-payloadJson').waitFor();
	expect(await page.getByTestId('parameter-input-task').count()).toBe(0);
});

test('what a newcomer has to know of sessions and waits is said in plain words', async () => {
	await openNode();
	await page.getByText('With an Agent Session Trigger: the ID that it listens to').waitFor();
	const waitUntil = page.getByTestId('parameter-input-waitUntil');
	await clickUntil(page.getByTestId('parameter-input-waitForMessages'), waitUntil);
	await editor.choose('waitUntil', 'A Matching Message Arrives');
	await page.getByTestId('parameter-input-matchValue').waitFor();
});

test('a failure says what happened and what to do', async () => {
	service.script({ status: 401 });
	// n8n has stored what the tests above changed in the other example.
	await openWorkflow('Long work: the agent calls back');
	await editor.openNode('Agent Execute');
	await editor.runStep(
		'refused the API key or the signature (401)',
		'The team that operates the agent issues them',
	);
});
