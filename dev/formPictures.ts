import path from 'node:path';
import type { Page } from 'playwright-core';

import { buildSignedInCredential } from './google/credential.ts';
import type { GoogleServer } from './google/server.ts';
import { connectInRow, manualTrigger, node } from './n8n/nodes.ts';
import type { N8nServer } from './n8n/startN8n.ts';

/** An n8n at the address where the pictures show it. */
export type ShownN8n = Pick<N8nServer, 'api' | 'url'>;

/**
 * Forms as a newcomer sees them: both credentials of an agent, the sign-in to Google, and a node that puts emails into the columns
 * of a spreadsheet.
 */
export async function formPictures(
	page: Page,
	n8n: ShownN8n,
	google: GoogleServer,
	folder: string,
): Promise<void> {
	await page.setViewportSize({ width: 1280, height: 1000 });
	for (const type of ['agentApi', 'agentSignatureApi']) await agentForm(page, n8n, type, folder);
	await signInForm(page, n8n, path.join(folder, 'form-workspace-oauth2-api.png'));
	await runEmailsToRows(page, await emailsToRows(n8n, google));
	await openAppend(page);
	await page.getByTestId('ndv').screenshot({ path: path.join(folder, 'form-append-rows.png') });
}

/** Pictures an agent credential's form after it was filled in and its test succeeded. */
async function agentForm(
	page: Page,
	{ api, url }: ShownN8n,
	type: string,
	folder: string,
): Promise<void> {
	const stored = await api.request<Array<{ id: string; type: string }>>('GET', 'credentials');
	const id = stored.find((one) => one.type === type)?.id ?? '';
	const form = page.getByTestId('editCredential-modal');
	const tested = form.getByText('Connection tested successfully');
	do {
		await page.goto(`${url}/home/credentials/${id}`);
		// The code below finds out whether n8n has tested it.
		await tested.waitFor({ timeout: 30_000 }).catch(() => undefined);
	} while (!(await tested.isVisible()));
	await page.waitForTimeout(1000);
	const target = `form-${type.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.png`;
	await form.screenshot({ path: path.join(folder, target) });
}

/** Pictures the Google credential's form, with client ID and secret so that the sign-in button is there. */
async function signInForm(page: Page, { api, url }: ShownN8n, target: string): Promise<void> {
	const clientId = '123456-abc.apps.googleusercontent.com';
	const client = { clientId, clientSecret: 'from-google' };
	const { id } = await api.createCredential('workspaceOAuth2Api', 'Workspace account', client);
	await page.goto(`${url}/home/credentials/${id}`);
	const form = page.getByTestId('editCredential-modal');
	await form.getByTestId('parameter-input-clientId').waitFor();
	await page.waitForTimeout(1000);
	await form.screenshot({ path: target });
}

/** A workflow that puts the unread emails into the columns of a sheet. @returns its address */
export async function emailsToRows({ api, url }: ShownN8n, google: GoogleServer): Promise<string> {
	const columns = ['Received', 'From', 'Subject'];
	const id = google.sheets.seed({ title: 'Inbox', tabs: [{ title: 'Unread', rows: [columns] }] });
	const { tokens, url: googleUrl } = google;
	const signIn = { accessToken: tokens.issue(), refreshToken: tokens.issueRefresh() };
	const account = buildSignedInCredential(googleUrl, signIn);
	const type = 'workspaceOAuth2Api';
	const workspaceOAuth2Api = await api.createCredential(type, 'My Google account', account);
	const step = (name: string, parameters: Record<string, unknown>) =>
		node(name, 'n8n-nodes-agent-workspace.workspace', parameters, {
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
			manualTrigger(),
			step('List emails', { operation: 'list', status: 'unread' }),
			step('Append rows', {
				resource: 'spreadsheet',
				operation: 'append',
				spreadsheetId: { __rl: true, mode: 'list', value: id, cachedResultName: 'Inbox' },
				tab: { __rl: true, mode: 'list', value: 'Unread', cachedResultName: 'Unread' },
				valuesSource: 'columns',
				columns: { mappingMode: 'defineBelow', value, matchingColumns: [], schema },
			}),
		],
		connections: connectInRow('Start', 'List emails', 'Append rows'),
	});
	return `${url}/workflow/${workflow.id}`;
}

/** Runs that workflow on n8n's canvas. */
export async function runEmailsToRows(page: Page, address: string): Promise<void> {
	await page.goto(address);
	await page.getByTestId('canvas-node').nth(2).waitFor();
	const last = page.getByTestId('canvas-node-status-success').nth(2);
	while (!(await last.isVisible())) {
		await page.getByTestId('execute-workflow-button').first().click();
		// The loop's condition finds out whether it ran.
		await last.waitFor({ timeout: 20_000 }).catch(() => undefined);
	}
}

/** Opens the form of the node that appends, when messages that come and go are gone. */
export async function openAppend(page: Page): Promise<void> {
	const columns = page.getByTestId('mapping-fields-container');
	while (!(await columns.isVisible())) {
		await page.locator('[data-test-id="canvas-node"][data-node-name="Append rows"]').dblclick();
		// The loop's condition finds out whether it is open.
		await columns.waitFor({ timeout: 20_000 }).catch(() => undefined);
	}
	await page.waitForTimeout(6000);
}
