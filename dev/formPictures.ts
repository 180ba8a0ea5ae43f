import path from 'node:path';
import type { Page } from 'playwright-core';

import { signedIn } from './google/credential.ts';
import type { GoogleServer } from './google/server.ts';
import type { N8nServer } from './n8n/server.ts';

/**
 * Forms as a newcomer sees them: both credentials of an agent, the sign-in to Google, and a node that puts emails into the columns
 * of a spreadsheet.
 */
export async function formPictures(
	page: Page,
	n8n: N8nServer,
	google: GoogleServer,
	folder: string,
): Promise<void> {
	await page.setViewportSize({ width: 1280, height: 1000 });
	for (const type of ['agentApi', 'agentSignatureApi']) await agentForm(page, n8n, type, folder);
	await signInForm(page, n8n, path.join(folder, 'form-workspace-oauth2-api.png'));
	await mapping(page, n8n, google, path.join(folder, 'form-append-rows.png'));
}

/** As it looks when it was filled in and its test has succeeded. */
async function agentForm(page: Page, { api, url }: N8nServer, type: string, folder: string): Promise<void> {
	const stored = await api.request<Array<{ id: string; type: string }>>('GET', 'credentials');
	const id = stored.find((one) => one.type === type)?.id ?? '';
	await page.goto(`${url}/home/credentials/${id}`);
	const form = page.getByTestId('editCredential-modal');
	await form.getByText('Connection tested successfully').waitFor();
	await page.waitForTimeout(1000);
	const target = `form-${type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.png`;
	await form.screenshot({ path: path.join(folder, target) });
}

/** With the values of a client, so that the button to sign in is there. */
async function signInForm(page: Page, { api, url }: N8nServer, target: string): Promise<void> {
	const client = { clientId: '123456-abc.apps.googleusercontent.com', clientSecret: 'from-google' };
	const { id } = await api.createCredential('workspaceOAuth2Api', 'Workspace account', client);
	await page.goto(`${url}/home/credentials/${id}`);
	const form = page.getByTestId('editCredential-modal');
	await form.getByTestId('parameter-input-clientId').waitFor();
	await page.waitForTimeout(1000);
	await form.screenshot({ path: target });
}

async function mapping(
	page: Page,
	{ api, url }: N8nServer,
	google: GoogleServer,
	target: string,
): Promise<void> {
	const columns = ['Received', 'From', 'Subject'];
	const id = google.sheets.seed({ title: 'Inbox', tabs: [{ title: 'Unread', rows: [columns] }] });
	const account = signedIn(google.url, {
		accessToken: google.tokens.issue(),
		refreshToken: google.tokens.issueRefresh(),
	});
	const workspaceOAuth2Api = await api.createCredential('workspaceOAuth2Api', 'My Google account', account);
	const node = (name: string, x: number, parameters: object) => ({
		id: `0000000${x}-0000-4000-8000-000000000000`,
		name,
		type: 'n8n-nodes-agent-workspace.workspace',
		typeVersion: 1,
		position: [x * 220, 0],
		parameters,
		credentials: { workspaceOAuth2Api },
	});
	const schema = columns.map((name) => ({
		id: name,
		displayName: name,
		required: false,
		defaultMatch: false,
		canBeUsedToMatch: true,
		display: true,
	}));
	const value = {
		Received: '={{ $json.date }}',
		From: '={{ $json.sender }}',
		Subject: '={{ $json.subject }}',
	};
	const workflow = await api.createWorkflow({
		name: 'Unread emails to rows',
		nodes: [
			{
				id: '00000000-0000-4000-8000-000000000000',
				name: 'Start',
				type: 'n8n-nodes-base.manualTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			node('List emails', 1, { operation: 'list', status: 'unread' }),
			node('Append rows', 2, {
				resource: 'spreadsheet',
				operation: 'append',
				spreadsheetId: { __rl: true, mode: 'list', value: id, cachedResultName: 'Inbox' },
				tab: { __rl: true, mode: 'list', value: 'Unread', cachedResultName: 'Unread' },
				valuesSource: 'columns',
				columns: { mappingMode: 'defineBelow', value, matchingColumns: [], schema },
			}),
		],
		connections: {
			Start: { main: [[{ node: 'List emails', type: 'main', index: 0 }]] },
			'List emails': { main: [[{ node: 'Append rows', type: 'main', index: 0 }]] },
		},
	});
	await page.goto(`${url}/workflow/${workflow.id}`);
	await page.getByTestId('canvas-node').nth(1).waitFor();
	await page.getByTestId('execute-workflow-button').first().click();
	await page.getByTestId('canvas-node-status-success').nth(2).waitFor();
	await page.locator('[data-test-id="canvas-node"][data-node-name="Append rows"]').dblclick();
	await page.getByTestId('mapping-fields-container').waitFor();
	await page.waitForTimeout(6000);
	await page.getByTestId('ndv').screenshot({ path: target });
}
