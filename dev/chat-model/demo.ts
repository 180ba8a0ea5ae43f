import { type ChatModel, type ChatRequest, type Reply, startChatModel } from './server.ts';

/** The chat model of `npm start`: it searches the mailbox, and if somebody asks for an email, it wants to send one. */
export async function startDemoModel(): Promise<ChatModel> {
	const model = await startChatModel();
	model.answer(buildDemoReply);
	return model;
}

export function buildDemoReply({ messages, tools, toolAnswers }: ChatRequest): Reply {
	const [found] = toolAnswers;
	if (found !== undefined) return `This is what my tool says:\n\n${found}`;
	const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
	const has = (name: string) => tools.some((tool) => tool.name === name);
	if (/send|write/i.test(asked) && has('Send_email')) {
		const toolParameters = {
			To: 'ann@example.com',
			Subject: 'About lunch',
			Body: 'Tomorrow at noon is fine.',
		};
		// A tool under review has n8n's schema: its own parameters, and those of the review.
		return [{ tool: 'Send_email', args: { toolParameters, hitlParameters: {} } }];
	}
	if (/agent/i.test(asked) && has('Run_my_agent'))
		return [{ tool: 'Run_my_agent', args: { Task: 'Answer the question', Input: asked } }];
	if (has('Search_emails')) return [{ tool: 'Search_emails', args: { Query: 'in:inbox' } }];
	return 'I am a stand-in for a chat model: ask for your emails, or ask me to send one.';
}
