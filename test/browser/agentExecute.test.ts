// A person without any credential: both are typed into n8n's forms, one of them wrongly at first, and then the agent runs in the same node.
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { Building } from './building';
import { CredentialForm } from './credentialForm';
import { Editor } from './editor';
import { clickUntil, StraightWay } from './person';
import { StrangersText, strangersText } from './strangersText';

const apiKey = 'typed-key-5d1c';
const signer = {
	userId: '0xa1',
	userPublicKey: '0xfeedbeef87654321',
	signature: '0xc0ffee0987654321',
};
let service: AgentService;
let editor: Editor;
let building: Building;
let form: CredentialForm;
let text: StrangersText;
const way = new StraightWay();

beforeAll(async () => {
	service = await startAgentService({ apiKey });
	editor = await Editor.open();
	building = new Building(editor);
	form = new CredentialForm(editor);
	text = new StrangersText(editor);
	await building.start();
	await way.go(async () => {
		await building.startByClick();
		await building.add('run agent', 'Agent Execute');
	});
});
afterEach(async () => {
	await editor.picture();
});
afterAll(async () => {
	await editor.close();
	await service.close();
});

/** What would have started an agent. */
const calls = () => service.requests.filter(({ method }) => method === 'POST');

test('a wrong key is named in the form, and with the right one it closes with its success', async () => {
	await way.go(() => form.create('Agent API', 'Typed agent'));
	await form.fill({
		deploymentUrl: service.url,
		webSocketUrl: service.webSocketUrl,
		apiKey: 'nonsense',
	});
	await form.save();
	await form.untilFailed('refused the API key (401)');
	await form.fill({ apiKey });
	await way.go(() => form.save());
	await form.untilClosed();
	await form.reopen('Agent API');
	await form.untilConnected();
	await form.close();
	expect(calls()).toEqual([]);
});

test('an address that is none is named in the form', async () => {
	await form.reopen('Agent API');
	await form.fill({ deploymentUrl: 'my agent' });
	await form.save();
	await form.untilFailed('is not a complete URL');
	await form.fill({ deploymentUrl: service.url });
	await form.save();
	await form.untilConnected();
	await form.close();
});

test('a signature that is none is named in the form, and the right one is accepted', async () => {
	await way.go(() => form.create('Agent Signature API', 'Typed signature'));
	await form.fill({ ...signer, signature: 'nonsense' });
	await form.save();
	await form.untilFailed("'Signature' contains characters other than 0–9 and a–f");
	await form.fill(signer);
	await way.go(() => form.save());
	await form.untilClosed();
});

test('the agent then runs with what was typed, after 10 clicks, and the output says that it has started', async () => {
	await editor.fill('startStepName', 'start');
	await editor.fill('task', 'Say hello');
	await way.go(() => editor.runStep('accepted'));
	expect(way.clicks).toBeLessThanOrEqual(10);
	const [{ body, headers } = {}] = calls();
	expect(headers).toMatchObject({ 'x-api-key': apiKey });
	expect(body as ExecuteFields).toMatchObject({ ...signer, startStepName: 'start' });
});

test('a failure says what happened and what to do', async () => {
	service.script({ status: 401 });
	await editor.runStep(
		'refused the API key or the signature (401)',
		'The team that operates the agent issues them',
	);
});

test('what an agent service answers is text in the error', async () => {
	const answer = { message: strangersText };
	service.script({ status: 400, body: answer });
	// The response is shown as it came, as JSON.
	await text.isRead(JSON.stringify(answer), editor.page.getByRole('alert'));
});

test('both credentials are told apart, and the payload switches between two texts and JSON', async () => {
	const labels = await editor.page.getByTestId('credentials-label').allInnerTexts();
	expect(labels.map((label) => label.trim())).toEqual(['Agent API', 'Agent Signature API']);
	await editor.chooseValue('payloadMode', 'json');
	await editor.parameter('payloadJson').waitFor();
	expect(await editor.parameter('task').count()).toBe(0);
});

test('what a newcomer has to know of sessions and waits is said in plain words', async () => {
	await editor.page
		.getByText('With an Agent Session Trigger: the ID that it listens to')
		.waitFor();
	await clickUntil(editor.parameter('waitForMessages'), editor.parameter('waitUntil'));
	await editor.choose('waitUntil', 'A Matching Message Arrives');
	await editor.parameter('matchValue').waitFor();
});
