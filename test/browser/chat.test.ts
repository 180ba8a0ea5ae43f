// A person who chats with the agent in n8n: what is typed, and what is read while the agent is at work.
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { ensureCredentials, readExample, withCredentials } from '../../dev/examples.ts';
import { Tokens } from '../../dev/google/tokens.ts';
import { Chat } from './canvasChat';
import { Editor } from './editor';

const apiKey = 'chat-test-key';
let service: AgentService;
let editor: Editor;
let chat: Chat;

beforeAll(async () => {
	// What the agent sends, and when, the tests decide.
	service = await startAgentService({ apiKey, messages: () => [] });
	editor = await Editor.open();
	chat = new Chat(editor);
});
afterAll(async () => {
	await editor.close();
	await service.close();
});
beforeEach(() => {
	service.requests.length = 0;
});
afterEach(async () => {
	await editor.picture();
});

const answers = () => chat.panel.locator('.chat-message-from-bot:not(.chat-message-typing)');

/** Opens the example, and its chat. @param responseMode of the Chat Trigger, as its option is stored */
async function openChat(responseMode: string): Promise<void> {
	const example = await readExample('chat-with-the-agent.json');
	const nowhere = { url: service.url, tokens: new Tokens('nobody@example.com') };
	const agent = { url: service.url, webSocketUrl: service.webSocketUrl, apiKey };
	const credentials = await ensureCredentials(editor.api, {
		agent,
		google: nowhere,
		label: 'chat',
	});
	const nodes = example.nodes.map((one) =>
		withCredentials(
			one.name === 'Chat' ? { ...one, parameters: { options: { responseMode } } } : one,
			credentials,
		),
	);
	await editor.show({ ...example, name: `Chat, ${responseMode}`, nodes });
	await chat.open();
}

/** Types words and sends them. @returns what the agent was called with */
async function say(words: string): Promise<ExecuteFields & { readonly input: unknown }> {
	const turn = service.requests.length;
	await chat.type(words);
	while (service.requests.length === turn) await editor.page.waitForTimeout(50);
	const fields = service.requests[turn]?.body as ExecuteFields;
	return { ...fields, input: (JSON.parse(fields.initialPayload) as { input: unknown }).input };
}

const shows = async (answer: number, text: string) => {
	await answers().nth(answer).getByText(text, { exact: true }).waitFor();
};

test('the agent’s text appears piece by piece, and the next turn gets its own answer', async () => {
	await openChat('streaming');
	const { sessionId, input } = await say('What is the weather like?');
	expect(input).toBe('What is the weather like?');
	service.send(sessionId, { type: 'step', text: 'Let me see. ' });
	await shows(0, 'Let me see.');
	service.send(sessionId, { type: 'step', text: 'It rains. ' });
	await shows(0, 'Let me see. It rains.');
	service.send(sessionId, { type: 'answer', text: 'Take an umbrella?' });
	await shows(0, 'Let me see. It rains. Take an umbrella?');

	const second = await say('Yes, please');
	expect([second.sessionId, second.input]).toEqual([sessionId, 'Yes, please']);
	service.send(sessionId, { type: 'step', text: 'Here ' });
	await shows(1, 'Here');
	service.send(sessionId, { type: 'answer', text: 'it is.' });
	await shows(1, 'Here it is.');
	expect(await answers().allInnerTexts()).toEqual([
		expect.stringContaining('Take an umbrella?'),
		expect.stringMatching(/^Here\s+it is\./),
	]);
	expect(service.requests).toHaveLength(2);
});

test('without streaming each turn’s answer appears at its end, and nothing else', async () => {
	await openChat('lastNode');
	const { sessionId } = await say('What is the weather like?');
	service.send(
		sessionId,
		{ type: 'step', text: 'Let me see.' },
		{ type: 'answer', text: 'It rains.' },
	);
	await shows(0, 'It rains.');
	const second = await say('And tomorrow?');
	expect([second.sessionId, second.input]).toEqual([sessionId, 'And tomorrow?']);
	service.send(sessionId, { type: 'answer', text: 'It snows.' });
	await shows(1, 'It snows.');
	expect(await answers().count()).toBe(2);
	expect(await chat.panel.innerText()).not.toContain('Let me see');
	expect(service.requests).toHaveLength(2);
});
