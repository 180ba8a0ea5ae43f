import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { until } from '../e2e/station';
import { Building } from './building';
import { CredentialForm } from './credentialForm';
import { Editor } from './editor';
import { clickUntil, StraightWay } from './person';

/** From an empty workflow, by clicks and typing alone. */
const apiKey = 'from-scratch-key';
const signer = {
	userId: '0xa1',
	userPublicKey: '0xfeedbeef87654321',
	signature: '0xc0ffee0987654321',
};
let service: AgentService;
let editor: Editor;
let page: Editor['page'];
let building: Building;

beforeAll(async () => {
	service = await startAgentService({ apiKey });
	editor = await Editor.open();
	({ page } = editor);
	building = new Building(editor);
});
afterEach(async () => {
	await editor.picture();
});
afterAll(async () => {
	await editor.close();
	await service.close();
});

test('an agent’s messages start a workflow: in a test, and published', async () => {
	const form = new CredentialForm(editor);
	const way = new StraightWay();
	await building.start();
	await way.go(async () => {
		await building.add('websocket', 'Agent Session Trigger');
		await form.create('Agent API', 'For the trigger');
		await form.fill({ deploymentUrl: service.url, webSocketUrl: service.webSocketUrl, apiKey });
		await form.save();
		await form.untilClosed();
		await form.create('Agent Signature API', 'For the trigger');
		await form.fill(signer);
		await form.save();
		await form.untilClosed();
	});
	await page.getByText('Choose your own ID and enter it here and in Agent Execute').waitFor();
	await editor.fill('sessionIds', 'by-clicks');
	// n8n says what to do once the form has no issues.
	await page.getByText('Receive a message from the session').waitFor();
	const execute = page.getByTestId('node-execute-button');
	expect(await execute.textContent()).toContain('Execute step');
	const waiting = page.getByText('Waiting up to 60 seconds for a message in the session');
	await way.go(() => clickUntil(execute, waiting));
	await until(() => service.countOpenChannels('by-clicks') === 1);
	service.send('by-clicks', { type: 'answer', text: 'First message' });
	await editor.reads('First message');
	await until(() => service.countOpenChannels('by-clicks') === 0);
	await way.go(async () => {
		await editor.leaveNode();
		await building.publish();
	});
	expect(way.clicks).toBeLessThanOrEqual(10);
	await until(() => service.countOpenChannels('by-clicks') === 1);
	service.send('by-clicks', { type: 'answer', text: 'Second message' });
	const id = new URL(page.url()).pathname.split('/')[2] ?? '';
	const execution = await editor.api.untilTriggered({ id });
	await editor.api.deactivate({ id });
	expect(JSON.stringify(execution.resultData)).toContain('Second message');
});
