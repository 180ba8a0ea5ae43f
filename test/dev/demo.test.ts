import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import { callBack } from '../../dev/agent-service/demo';
import { onLoopback } from '../../dev/loopback';
import { buildDemoReply } from '../../dev/chat-model/demo';
import type { ChatRequest } from '../../dev/chat-model/server';
import { demoTemplate, seedDemo } from '../../dev/google/demo';
import { startGoogle, type GoogleServer } from '../../dev/google/server';
import { defaultScopes, widestScopes } from '../../dev/google/tokens';

let google: GoogleServer;

beforeAll(async () => {
	google = await startGoogle();
	seedDemo(google);
});
afterAll(() => google.close());

async function post(scopes: string[], path: string, body: object): Promise<[number, string]> {
	const answer = await fetch(`${google.url}${path}`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${google.tokens.issue({ scopes })}`,
			'content-type': 'application/json',
		},
		body: JSON.stringify(body),
	});
	return [answer.status, await answer.text()];
}

const raw = Buffer.from('To: ann@example.com\r\nSubject: Hi\r\n\r\nHi').toString('base64url');
const saveDraft = (scopes: string[]) => post(scopes, '/gmail/v1/users/me/drafts', { message: { raw } });
const copyTemplate = (scopes: string[]) => post(scopes, `/drive/v3/files/${demoTemplate.id}/copy`, {});

test('the default sign-in saves no draft, and is told the reason as Google tells it', async () => {
	const [status, text] = await saveDraft(defaultScopes);
	expect(status).toBe(403);
	expect(text).toContain('ACCESS_TOKEN_SCOPE_INSUFFICIENT');
});

test('the default sign-in does not copy a template that another app created', async () => {
	const [status] = await copyTemplate(defaultScopes);
	expect(status).toBe(404);
});

test('the widest choices of the credential do both', async () => {
	expect((await saveDraft(widestScopes))[0]).toBe(200);
	expect((await copyTemplate(widestScopes))[0]).toBe(200);
});

const tool = (name: string) => ({ name, description: '', parameters: { properties: {} } });
const ask = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
	messages: [{ role: 'user', content }],
	tools: ['Send_email', 'Search_emails', 'Run_my_agent'].map(tool),
	toolAnswers: [],
	...more,
});

test('the chat model of the demo uses the tool that was asked for, and then says what came of it', () => {
	const used = ['Send Ann an email', 'Ask my agent', 'What is new?'].map((text) => buildDemoReply(ask(text)));
	expect(used).toMatchObject([
		[{ tool: 'Send_email' }],
		[{ tool: 'Run_my_agent' }],
		[{ tool: 'Search_emails' }],
	]);
	expect(buildDemoReply(ask('What is new?', { toolAnswers: ['One email'] }))).toContain('One email');
	expect(buildDemoReply(ask('What is new?', { tools: [] }))).toContain('stand-in');
});

describe('the agent of the demo calls back', () => {
	const fields = {
		sessionId: 's',
		userId: 'u',
		userPublicKey: 'k',
		startStepName: 'start',
		signature: 'x',
		timestamp: 1,
	};
	const call = (payload: object) => callBack({ ...fields, initialPayload: JSON.stringify(payload) }, 1);

	test('with its answer, until it is taken', async () => {
		const came: string[] = [];
		const server = createServer((request, response) => {
			void text(request).then((body) => {
				came.push(body);
				response.writeHead(came.length < 3 ? 409 : 200).end();
			});
		});
		const listening = await onLoopback(server);
		await call({ input: 'hours', resumeUrl: `${listening.url}/webhook-waiting/1` });
		await listening.close();
		expect(came.map((body) => JSON.parse(body) as unknown)).toEqual(
			Array(3).fill({ type: 'answer', task: null, text: 'Done: hours' }),
		);
	});

	test.each([{}, { resumeUrl: 7 }, { resumeUrl: 'https://example.com/' }])(
		'never elsewhere: %j',
		async (payload) => {
			const fetched = jest.spyOn(globalThis, 'fetch');
			await call(payload);
			expect(fetched).not.toHaveBeenCalled();
			fetched.mockRestore();
		},
	);
});
