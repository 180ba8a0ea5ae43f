// The example in which n8n's AI Agent asks in the chat before it sends: what a person reads, clicks and gets.
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { type ChatModel, startChatModel } from '../../dev/chat-model/server.ts';
import { ensureCredentials, readExample, withCredentials } from '../../dev/examples.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { Chat } from './canvasChat';
import { Editor } from './editor';

const apiKey = 'review-test-key';
let agent: AgentService;
let google: GoogleServer;
let model: ChatModel;
let editor: Editor;
let chat: Chat;

beforeAll(async () => {
	agent = await startAgentService({ apiKey });
	google = await startGoogle();
	google.gmail.seed({
		from: 'Ann <ann@example.com>',
		subject: 'Lunch?',
		text: 'Tomorrow at noon?',
	});
	model = await startChatModel();
	editor = await Editor.open();
	chat = new Chat(editor);
	const credentials = await ensureCredentials(editor.api, {
		agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
		google,
		modelUrl: model.url,
		label: 'review',
	});
	const example = await readExample('ai-agent-with-tools.json');
	const nodes = example.nodes.map((one) => withCredentials(one, credentials));
	await editor.show({ ...example, nodes });
	await chat.open();
});
afterEach(async () => {
	await editor.picture();
	expectNoViolations(google);
});
afterAll(async () => {
	await editor.close();
	await model.close();
	await google.close();
	await agent.close();
});

const mail = { To: 'ann@example.com', Subject: 'About lunch', Body: 'Noon is fine.' };

/** A model that wants to send the mail, and then says what came of it. */
function wantsToSend(): void {
	model.answer(({ toolAnswers }) => {
		const [said] = toolAnswers;
		// A tool under review has n8n's schema: its own parameters, and those of the review.
		const args = { toolParameters: mail, hitlParameters: {} };
		return said === undefined ? [{ tool: 'Send_email', args }] : `It was told: ${said}`;
	});
}

test('what it reads and what it passes on needs no review', async () => {
	model.answer(({ toolAnswers: { length }, toolAnswers: [found] }) => {
		if (length === 0) return [{ tool: 'Search_emails', args: { Query: 'subject:Lunch' } }];
		const id = /"id\\*":\\*"([^"\\]+)/.exec(found ?? '')?.[1] ?? '';
		if (length === 1) return [{ tool: 'Read_email', args: { Message_ID: id } }];
		if (length === 2)
			return [{ tool: 'Run_my_agent', args: { Task: 'Decide', Input: 'Noon?' } }];
		return 'All is known.';
	});
	await chat.type('What does Ann want?');
	await chat.shows('All is known.');
	const answers = model.requests.at(-1)?.toolAnswers ?? [];
	expect(answers).toEqual([
		expect.stringContaining('Lunch?'),
		expect.stringContaining('Tomorrow at noon?'),
		expect.stringContaining('Done: Noon?'),
	]);
});

test('a rejected email is not sent, and the model is told so', async () => {
	wantsToSend();
	await chat.type('Answer Ann');
	await chat.shows('Send this email?');
	await chat.shows(mail.Body);
	const asked = await chat.newest();
	expect(asked).toContain(`To: ${mail.To}`);
	expect(asked).toContain(`Subject: ${mail.Subject}`);
	expect(asked.split(mail.Body)).toHaveLength(2);
	expect(google.gmail.sent).toHaveLength(0);
	await chat.decide(/disapprove|reject|decline/i);
	await chat.shows('It was told:');
	expect(model.requests.at(-1)?.toolAnswers[0]).toMatch(
		/reject|declin|denied|not approve|disapprove/i,
	);
	expect(google.gmail.sent).toHaveLength(0);
});

test('an approved email is sent once', async () => {
	wantsToSend();
	await chat.type('Answer Ann after all');
	await chat.decide(/^approve/i);
	await chat.shows('It was told:');
	expect(google.gmail.sent).toHaveLength(1);
	expect(google.gmail.sent[0]?.raw.toString()).toContain(mail.Body);
});
