import { inspect } from 'node:util';
import type { INodeExecutionData } from 'n8n-workflow';

import { Sanitizer } from '../../nodes/core/sanitizer';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { failureOf } from '../createExecuteContext';
import { formsIn, inAllForms } from '../forms';
import { createNodeContext, runNode, token } from './runNode';
import { json, startScriptedServer, type Answer, type ScriptedServer } from './scriptedServer';

let server: ScriptedServer;
afterEach(() => server.close());

const clientSecret = 'canary-client-secret-1';
const refreshToken = 'canary-refresh-token-1';
const credential = {
	clientSecret,
	oauthTokenData: { access_token: token, refresh_token: refreshToken },
};
const fresh = 'ya29.canary-fresh-token-of-Google';
const assertion = 'eyJhbGciOiJSUzI1NiJ9.eyJjYW5hcnkiOiJhc3NlcnRpb24ifQ.c2lnbmF0dXJl';
const echo = `Invalid: ${inAllForms(token)} ${clientSecret} ${refreshToken} Authorization: Bearer ${fresh} assertion=${assertion}`;

const cases: Array<[string, Answer]> = [
	['a bad request', json({ error: { code: 400, message: echo, status: echo } }, 400)],
	[
		'a refusal with reasons',
		json({ error: { message: 'no', errors: [{ reason: echo, message: echo }] } }, 403),
	],
	['the shape of the token endpoint', json({ error: echo, error_description: echo }, 400)],
	['a redirect', json({}, 302, { location: `https://x.example/${token}?access_token=${fresh}` })],
	[
		'an answer of another kind',
		(response) => response.writeHead(200, { 'content-type': 'text/html' }).end(echo),
	],
];

/** All that the user and n8n get of a failed read. */
async function shownOf(answer: Answer) {
	server = await startScriptedServer(answer);
	const parameters = {
		resource: 'document',
		operation: 'read',
		documentId: { __rl: true, mode: 'id', value: 'a1' },
		options: { timeLimits: { limits: { maxRetryWaitSeconds: 0 } } },
	};
	const options = { url: server.url, parameters, credential };
	const error = await failureOf(runNode(options));
	const items: INodeExecutionData[] = await runNode({
		...options,
		node: { onError: 'continueRegularOutput' },
	});
	const text = [
		error.message,
		error.description,
		error.stack,
		inspect(error, { depth: null }),
		JSON.stringify(items),
	].join(' ');
	return { error, text };
}

test.each(cases)(
	'Google, or what stands in its place, repeats secrets in %s',
	async (_, answer) => {
		const { error, text } = await shownOf(answer);
		for (const secret of [token, clientSecret, refreshToken, fresh, assertion]) {
			expect(formsIn(text, secret)).toEqual([]);
		}
		expect(`${error.message} ${error.description}`).not.toMatch(/\p{Cc}/u);
	},
);

test('without the sanitizer the same search finds them', async () => {
	jest.spyOn(Sanitizer.prototype, 'sanitizeError').mockImplementation((failure) => failure);
	try {
		const { text } = await shownOf(
			json({ error: { code: 400, message: echo, status: echo } }, 400),
		);
		for (const secret of [token, clientSecret, refreshToken, fresh, assertion]) {
			expect(formsIn(text, secret)).toContain('plain');
		}
	} finally {
		jest.restoreAllMocks();
	}
});

test('a run whose items are all refused reads no credential', async () => {
	const parameters = { resource: 'document', operation: 'read', documentId: '' };
	const context = createNodeContext({ url: 'http://127.0.0.1:1', parameters });
	const read = jest.spyOn(context, 'getCredentials');
	await failureOf(new Workspace().execute.call(context));
	expect(read).not.toHaveBeenCalled();
});
