import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import { buildDemoMessages, callBack } from '../../dev/agent-service/demo';
import { onLoopback } from '../../dev/loopback';
import { buildDemoReply } from '../../dev/chat-model/demo';
import type { ExecuteFields } from '../../dev/agent-service/request';
import { type ChatRequest, startChatModel } from '../../dev/chat-model/server';
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

test.each([
	['the default sign-in does not', defaultScopes, 403, 404],
	['the widest choices of the credential do both', widestScopes, 200, 200],
])(
	'saving a draft and copying a template of another app: %s',
	async (_who, scopes, draft, copy) => {
		const raw = Buffer.from('To: ann@example.com\r\nSubject: Hi\r\n\r\nHi').toString(
			'base64url',
		);
		const saved = await post(scopes, '/gmail/v1/users/me/drafts', { message: { raw } });
		const copied = await post(scopes, `/drive/v3/files/${demoTemplate.id}/copy`, {});
		expect([saved[0], copied[0]]).toEqual([draft, copy]);
		// As Google tells the reason.
		if (draft === 403) expect(saved[1]).toContain('ACCESS_TOKEN_SCOPE_INSUFFICIENT');
	},
);

test('one of its emails has attachments, which the example finds', async () => {
	const found = await fetch(
		`${google.url}/gmail/v1/users/me/messages?q=${encodeURIComponent('has:attachment newer_than:7d')}`,
		{ headers: { authorization: `Bearer ${google.tokens.issue({ scopes: defaultScopes })}` } },
	);
	expect(await found.json()).toMatchObject({ resultSizeEstimate: 1 });
});

const tool = (name: string) => ({ name, description: '', parameters: { properties: {} } });
const ask = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
	messages: [{ role: 'user', content }],
	tools: ['Send_email', 'Search_emails', 'Run_my_agent'].map(tool),
	toolAnswers: [],
	...more,
});

test('the chat model of the demo uses the tool that was asked for, and then says what came of it', () => {
	const used = ['Send Ann an email', 'Ask my agent', 'What is new?'].map((text) =>
		buildDemoReply(ask(text)),
	);
	expect(used).toMatchObject([
		[{ tool: 'Send_email' }],
		[{ tool: 'Run_my_agent' }],
		[{ tool: 'Search_emails' }],
	]);
	expect(buildDemoReply(ask('What is new?', { toolAnswers: ['One email'] }))).toContain(
		'One email',
	);
	expect(buildDemoReply(ask('What is new?', { tools: [] }))).toContain('stand-in');
});

test('the chat model finds a tool under the name that n8n gives a new one, under review or not', () => {
	const name = 'Send_reply_to_or_draft_email_in_Workspace';
	const send = (properties: Record<string, object>) => {
		const tools = [{ ...tool(name), parameters: { properties } }];
		return buildDemoReply(ask('Send Ann an email', { tools }));
	};
	expect(send({ To: {}, Subject: {}, Body: {} })).toMatchObject([
		{ tool: name, args: { Subject: 'About your question' } },
	]);
	expect(send({ toolParameters: {}, hitlParameters: {} })).toMatchObject([
		{ tool: name, args: { toolParameters: { Subject: 'About your question' } } },
	]);
});

test('the chat model reads a sheet, and then drafts an email with what the sheet says', () => {
	const orders = { ...tool('Read_orders'), description: 'Reads rows of Google Sheets.' };
	const properties = { To: {}, Subject: {}, Body: {} };
	const draft = { ...tool('Save_draft'), parameters: { properties } };
	const tools = [draft, tool('Search_emails'), orders];
	const question = 'Read the open orders and save a draft for bo@example.com';
	expect(buildDemoReply(ask(question, { tools }))).toMatchObject([{ tool: 'Read_orders' }]);
	const toolAnswers = ['{"rows":[[2,1041]]}'];
	const written = { To: 'bo@example.com', Subject: 'About your question', Body: toolAnswers[0] };
	expect(buildDemoReply(ask(question, { tools, toolAnswers }))).toEqual([
		{ tool: 'Save_draft', args: written },
	]);
	const last = ask(question, { tools, toolAnswers: [...toolAnswers, 'Draft saved'] });
	expect(buildDemoReply(last)).toContain('Draft saved');
});

test.each([false, true])(
	'the chat model also has the Responses API, which a new node of n8n uses (streamed: %s)',
	async (stream) => {
		const model = await startChatModel();
		model.answer(({ toolAnswers: [found], messages }) => {
			expect(messages.map(({ role }) => role).slice(0, 2)).toEqual(['system', 'user']);
			return found ?? [{ tool: 'Search', args: { Query: 'in:inbox' } }];
		});
		const post = async (more: object[]) => {
			const input = [
				{ role: 'developer', content: 'Be brief.' },
				{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'New?' }] },
				...more,
			];
			const tools = [{ type: 'function', ...tool('Search') }];
			const response = await fetch(`${model.url}/responses`, {
				method: 'POST',
				body: JSON.stringify({ input, tools, stream }),
			});
			return await response.text();
		};
		expect(await post([])).toContain('in:inbox');
		const call = { type: 'function_call', call_id: 'call_1', name: 'Search', arguments: '{}' };
		const output = { type: 'function_call_output', call_id: 'call_1', output: 'One email' };
		expect(await post([call, output])).toContain('One email');
		await model.close();
	},
);

const agentSays = (startStepName: string, payload: object) =>
	buildDemoMessages({
		sessionId: 's',
		startStepName,
		initialPayload: JSON.stringify(payload),
	} as ExecuteFields);

test('the agent of the demo repeats its input, or its task if there is no more', () => {
	const said = (payload: object) => agentSays('start', payload).at(-2);
	expect(said({ task: 'Sum up', input: 'A letter' })).toMatchObject({ text: 'Done: A letter' });
	expect(said({ task: 'Sum up', input: '' })).toMatchObject({ text: 'Done: Sum up' });
});

test.each([
	['start', ['step', 'answer', 'done']],
	['chat', ['step', 'step', 'step', 'answer', 'done']],
	['ask', ['step', 'question', 'done']],
])('the types that the agent of the demo sends with the step %s', (startStepName, types) => {
	const messages = agentSays(startStepName, {}) as Array<{ type: string }>;
	expect(messages.map(({ type }) => type)).toEqual(types);
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
	const call = (payload: object) =>
		callBack({ ...fields, initialPayload: JSON.stringify(payload) }, 1);

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
