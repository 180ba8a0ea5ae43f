// What works on one version of n8n (`N8N_HOST_VERSION`). `npm run test:versions` runs this on every pinned version and
// writes the table of docs/versions.md from what is recorded here.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { buildEndpoints } from '../../dev/google/credential.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { getN8nVersion, root } from '../../dev/n8n/installN8n.ts';
import { ConnectProxy } from '../Agent/session/connectProxy';
import { secrets, storeAgent, storeSignIn } from '../e2e/credentials';
import { items, manualTrigger, node, startTestN8n } from '../e2e/startTestN8n';
import { Station, until } from '../e2e/station';
import { agentType, inRow, outputOf, workspaceType } from '../e2e/workflows';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const robot = 'robot@project.example';
const station = new Station(startTestN8n);
let google: GoogleServer;

beforeAll(async () => {
	const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
	google = await startGoogle({
		serviceAccounts: [{ email: robot, publicKey: pem, delegates: [] }],
	});
});
afterAll(async () => {
	await google.close();
	const folder = path.join(root, '.dev', 'versions');
	mkdirSync(folder, { recursive: true });
	writeFileSync(path.join(folder, `${getN8nVersion()}.json`), JSON.stringify(seen));
});

/** Cells of the version's row, by the column's title. */
const seen: Record<string, string> = {};

/** A test whose result is a cell of the table. */
function column(title: string, observe: () => Promise<string>): void {
	test(title, async () => {
		seen[title] = '**fails**';
		seen[title] = await observe();
	});
}

column('Agent Execute', async () => {
	station.service.script({ messages: [{ type: 'progress' }, { type: 'done' }] });
	const wait = {
		waitForMessages: true,
		waitUntil: 'match',
		matchField: 'type',
		matchValue: 'done',
	};
	const { credentials } = station;
	const agent = node(
		'Agent',
		agentType,
		{ startStepName: 'start', task: 'Say hello', ...wait },
		{ credentials },
	);
	const execution = await station.n8n.api.runOnce(inRow('agent', manualTrigger(), agent));
	expect(outputOf(execution, 'Agent')[0]?.json).toMatchObject({
		statusCode: 200,
		endedBy: 'match',
	});
	return '✓';
});

column('Workspace', async () => {
	const credentials = await storeSignIn(station.n8n.api, google);
	const workspace = (name: string, parameters: object) =>
		node(name, workspaceType, { ...parameters }, { credentials });
	const spreadsheetId = google.sheets.seed({
		title: 'Book',
		tabs: [{ title: 'Sheet1', rows: [['Name']] }],
	});
	const toFile = node(
		'File',
		'n8n-nodes-base.convertToFile',
		{ operation: 'toText', sourceProperty: 'text' },
		{ typeVersion: 1.1 },
	);
	const mail = { operation: 'send', to: 'ann@example.com', subject: 'Hi', body: 'Text' };
	const byJson = {
		operation: 'append',
		resource: 'spreadsheet',
		spreadsheetId,
		tab: 'Sheet1',
		values: [['a']],
	};
	const execution = await station.n8n.api.runOnce(
		inRow(
			'workspace',
			manualTrigger(),
			items('Items', [{ text: 'one' }]),
			toFile,
			workspace('Send', { ...mail, options: { attachments: 'data' } }),
			workspace('Append', { inputMode: 'json', inputObject: JSON.stringify(byJson) }),
			workspace('Create', {
				resource: 'document',
				operation: 'create',
				title: 'Report',
				content: '# Title',
			}),
		),
	);
	expect(execution.resultData.error).toBeUndefined();
	expect(execution.status).toBe('success');
	expect(google.gmail.sent).toHaveLength(1);
	expect(outputOf(execution, 'Create')).toHaveLength(1);
	expect(google.violations).toEqual([]);
	return '✓';
});

column('Trigger: Listen in the editor', async () => {
	const stored = await station.n8n.api.createWorkflow(station.workflow('listen'));
	const id = await station.n8n.api.startRun(stored, 'Trigger');
	await until(station.isOpen('listen'));
	station.service.send('listen', 'hello');
	const execution = await station.n8n.api.untilDone(id);
	expect(outputOf(execution, 'Trigger')[0]?.json.message).toBe('hello');
	await until(() => station.service.countOpenChannels() === 0);
	return '✓';
});

column('Trigger: published with the service down', async () => {
	const { port } = station.service;
	await station.service.close();
	const stored = await station.publish(station.workflow('down'));
	await station.serve({ port });
	await until(station.isOpen('down'));
	station.service.send('down', 1, 2, 3);
	await until(async () => (await station.messagesOf(stored)).length === 3);
	return '✓';
});

column('A refused key is reported by', async () => {
	const printedBefore = station.n8n.output().length;
	station.service.scriptUpgrades({ status: 401 }, { status: 401 }, { status: 401 });
	const stored = await station.publish(station.workflow('refused'));
	const reported = async (): Promise<string | undefined> => {
		const failed = await station.executions({ workflowId: stored.id, status: ['error'] });
		if (failed.length > 0) return 'a failed execution';
		const lines = station.n8n.output().slice(printedBefore).split('\n');
		const alert = lines.find((line) =>
			/The channel of session refused .*status 401/.test(line),
		);
		return alert === undefined ? undefined : 'a line in the log';
	};
	await until(async () => (await reported()) !== undefined);
	return String(await reported());
});

column('Trigger: n8n restarted, then killed', async () => {
	const stored = await station.publish(station.workflow('restarted'));
	for (const [ending, message] of [
		['stop', 1],
		['kill', 2],
	] as const) {
		await until(station.isOpen('restarted'));
		await station.n8n[ending]();
		await station.n8n.restart();
		await until(station.isOpen('restarted'));
		station.service.send('restarted', message);
		await until(async () => (await station.messagesOf(stored)).includes(message));
	}
	return '✓';
});

column('A repeated ID after a restart of n8n', async () => {
	const stored = await station.publish(
		station.workflow('repeated', { options: { deduplicationField: 'id' } }),
	);
	const ids = async () =>
		(await station.messagesOf(stored)).map((message) => (message as { id: number }).id).sort();
	await until(station.isOpen('repeated'));
	station.service.send('repeated', { id: 1 }, { id: 1 }, { id: 2 });
	await until(async () => (await ids()).includes(2));
	expect(await ids()).toEqual([1, 2]);
	await station.n8n.stop();
	await station.n8n.restart();
	await until(station.isOpen('repeated'));
	station.service.send('repeated', { id: 1 }, { id: 3 });
	await until(async () => (await ids()).includes(3));
	await new Promise((resolve) => setTimeout(resolve, 500));
	const after = await ids();
	if (after.length === 3) return 'is left out';
	expect(after).toEqual([1, 1, 2, 3]);
	return 'starts an execution again';
});

column('Test button of a service account', async () => {
	const type = 'workspaceServiceAccountApi';
	const { id, name } = await station.n8n.api.createCredential(type, 'Robot', {
		email: robot,
		privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		driveAccess: 'allFiles',
		...buildEndpoints(google.url),
	});
	const { data } = await station.n8n.api.request<{ data: object }>(
		'GET',
		`credentials/${id}?includeData=true`,
	);
	const { status, message } = await station.n8n.api.request<{ status: string; message: string }>(
		'POST',
		'credentials/test',
		{ credentials: { id, name, type, data } },
	);
	expect([status, message]).toEqual(['OK', expect.any(String)]);
	return '✓';
});

column('A proxy that refuses to connect', async () => {
	const proxy = await new ConnectProxy().listen();
	proxy.behaviour = 502;
	const env = { HTTPS_PROXY: proxy.address(), NO_PROXY: '127.0.0.1' };
	const n8n = await startTestN8n({ env: { ...env, CREDENTIALS_OVERWRITE_DATA: '{}' } });
	const google = await n8n.api.createCredential('workspaceOAuth2Api', 'Google', {
		clientId: 'c',
		clientSecret: 's',
		oauthTokenData: { access_token: 'a', refresh_token: 'r', token_type: 'Bearer' },
	});
	const service = { url: 'https://agent.test', webSocketUrl: 'wss://agent.test/ws' };
	const agent = await storeAgent(n8n.api, { ...service, apiKey: secrets.apiKey });

	async function failureOf(type: string, parameters: object): Promise<unknown> {
		const credentials = { workspaceOAuth2Api: google, ...agent };
		const refused = node('Refused', type, { ...parameters }, { credentials });
		const { resultData } = await n8n.api.runOnce(inRow('refused', manualTrigger(), refused));
		return resultData.error;
	}

	const options = { timeLimits: { limits: { maxRetryWaitSeconds: 0 } } };
	const to = 'ann@example.com';
	const mail = { operation: 'send', to, subject: 'Hi', body: 'Text', options };
	const call = { startStepName: 'start', task: 'Say hello', sessionId: 's' };
	const failures = [
		await failureOf(workspaceType, mail),
		await failureOf(agentType, call),
		await failureOf(agentType, { ...call, waitForMessages: true }),
	];
	await n8n.remove();
	await proxy.close();
	const refusal = (host: string) =>
		expect.stringMatching(`^The proxy did not connect n8n to ${host}.* HTTP 502`) as string;
	expect(failures).toMatchObject([
		{ message: refusal('gmail.googleapis.com') },
		{ message: refusal('agent.test') },
		{ message: expect.stringMatching(/proxy.* 502/) as string },
	]);
	return '✓';
});
