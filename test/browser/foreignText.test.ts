// The editor shows a hint, an error's description and the message in a toast as HTML. A stranger's text in them stays text.
import type { Locator } from 'playwright-core';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { ensureCredentials, readExample, withCredentials } from '../../dev/examples.ts';
import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { connectInRow, manualTrigger, node } from '../../dev/n8n/nodes.ts';
import { Editor } from './editor';

const apiKey = 'browser-test-key';
const strangers =
	'<img src="http://evil.example/seen"><a href="http://evil.example/">Reconnect</a> a<b';

let service: AgentService;
let google: GoogleServer;
let editor: Editor;
const asked: string[] = [];

beforeAll(async () => {
	service = await startAgentService({
		apiKey,
		execute: () => ({ status: 400, body: { message: strangers } }),
	});
	google = await startGoogle();
	editor = await Editor.open();
	editor.page.on('request', (request) => asked.push(request.url()));
});
afterAll(async () => {
	await editor.close();
	await google.close();
	await service.close();
});

/** Runs the node; then its panel, and a toast if there is one, says all of the text, which is neither a picture nor a link. */
async function readsAsText(name: string, text: string, alsoIn?: Locator): Promise<void> {
	await editor.openNode(name);
	await editor.runStep('evil.example');
	// A space without width keeps each < from beginning a tag.
	await editor.reads(text.replaceAll('<', '<\u200b'));
	await alsoIn?.filter({ hasText: 'Reconnect' }).first().waitFor();
	await editor.picture();
	expect(await editor.page.locator('[src*="evil.example"], [href*="evil.example"]').count()).toBe(
		0,
	);
	expect(asked.filter((url) => url.includes('evil.example'))).toEqual([]);
}

test('what an agent service answers is text in the error', async () => {
	const credentials = await ensureCredentials(editor.api, {
		agent: { url: service.url, webSocketUrl: service.webSocketUrl, apiKey },
		google,
		label: 'strangers',
	});
	const example = await readExample('run-an-agent.json');
	await editor.show({
		...example,
		name: 'An agent of a stranger',
		nodes: example.nodes.map((one) => withCredentials(one, credentials)),
	});
	// The response is shown as it came, as JSON.
	const shown = JSON.stringify({ message: strangers });
	await readsAsText('Agent Execute', shown, editor.page.getByRole('alert'));
});

test('what is searched for is text in the hint', async () => {
	const tokens = {
		accessToken: google.tokens.issue(),
		refreshToken: google.tokens.issueRefresh(),
	};
	const credential = await editor.api.createCredential(
		'workspaceOAuth2Api',
		'W',
		buildSignedInCredential(google.url, tokens),
	);
	const workspace = 'n8n-nodes-agent-workspace.workspace';
	const parameters = { resource: 'mail', operation: 'search', query: strangers };
	await editor.show({
		name: 'A search of a stranger',
		nodes: [
			manualTrigger(),
			node('Find', workspace, parameters, {
				credentials: { workspaceOAuth2Api: credential },
			}),
		],
		connections: connectInRow('Start', 'Find'),
	});
	await readsAsText('Find', strangers);
});
