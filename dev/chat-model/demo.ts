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
	// Somebody may have added the tool anew, under the name that n8n gives it.
	const find = (name: RegExp) => tools.find((tool) => name.test(tool.name));
	const send = find(/^send/i);
	if (/send|write/i.test(asked) && send) {
		const email = {
			To: 'ann@example.com',
			Subject: 'About lunch',
			Body: 'Tomorrow at noon is fine.',
		};
		// A tool under review has n8n's schema: its own parameters, and those of the review.
		const isReviewed = 'toolParameters' in send.parameters.properties;
		const args = isReviewed ? { toolParameters: email, hitlParameters: {} } : email;
		return [{ tool: send.name, args }];
	}
	const agent = find(/agent/i);
	if (/agent/i.test(asked) && agent)
		return [{ tool: agent.name, args: { Task: 'Answer the question', Input: asked } }];
	const search = find(/^search/i);
	if (search) return [{ tool: search.name, args: { Query: 'in:inbox' } }];
	return 'I am a stand-in for a chat model: ask for your emails, or ask me to send one.';
}
