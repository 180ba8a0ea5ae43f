import type { ChatRequest, ChatTool, Reply } from './chat.ts';
import { type ChatModel, startChatModel } from './server.ts';

/**
 * The chat model of `npm start`. It calls the tools whose name and description share most words with the question, those that read first, and
 * then answers from what they returned.
 */
export async function startDemoModel(): Promise<ChatModel> {
	const model = await startChatModel();
	model.answer(buildDemoReply);
	return model;
}

export function buildDemoReply({ messages, tools, toolAnswers }: ChatRequest): Reply {
	const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
	const tool = chooseTools(question, tools)[toolAnswers.length];
	if (tool) return [{ tool: tool.name, args: fillArguments(tool, question, toolAnswers) }];
	if (toolAnswers.length === 0)
		return 'I am a stand-in for a chat model. I call the tool whose name and description share most words with your question. None does.';
	return `This is what my tools say:\n\n${toolAnswers.join('\n\n')}`;
}

/** Words that say nothing about which tool is meant. */
const fillers = new Set(
	'a an and any are as at by can do for from have i in is it me my of on or please so that the then this to what when which with you your'.split(
		' ',
	),
);

function listWords(text: string): Set<string> {
	const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
	// The plural is the same word: "read the order" and "read orders".
	const stems = words
		.filter((word) => !fillers.has(word))
		.map((word) => word.replace(/(?<=..)s$/, ''));
	return new Set(stems);
}

const writingWords = /^(send|write|save|draft|add|append|update|create|upload|reply|answer)/i;

/**
 * Returns at most one tool that reads and, if the question asks for it, one that writes. A word in the name of the writing tool does not ask for
 * another: "send an email" does not mean to search emails first.
 */
function chooseTools(question: string, tools: readonly ChatTool[]): ChatTool[] {
	const asked = listWords(question);
	const isWriting = ({ name }: ChatTool) => writingWords.test(name);
	const isUsable = (tool: ChatTool) => !isWriting(tool) && !needsId(tool);
	const readers = tools.filter(isUsable);
	const writer = findBestTool(tools.filter(isWriting), asked, 0);
	for (const word of listWords(readName(writer))) asked.delete(word);
	const reader = findBestTool(readers, asked, 1);
	const chosen = [reader, writer].filter((tool) => tool !== undefined);
	// "What is new?" names no tool.
	const fallback = readers.find(({ name }) => /^(search|list|read|get)/i.test(name));
	return chosen.length === 0 && fallback ? [fallback] : chosen;
}

/** Whether a tool wants the ID of something. The question has none, and only another tool could give it. */
function needsId({ parameters }: ChatTool): boolean {
	return Object.keys(parameters.properties).some((name) => idName.test(name));
}

const idName = /id$|^document$|^spreadsheet$/i;

const readName = (tool: ChatTool | undefined) => tool?.name.replaceAll('_', ' ') ?? '';

/** Returns the tool that shares most words with the question. A word of its name counts three times. */
function findBestTool(
	tools: readonly ChatTool[],
	asked: ReadonlySet<string>,
	descriptionWeight: number,
): ChatTool | undefined {
	let best: ChatTool | undefined;
	let bestScore = 0;
	const countShared = (text: string) =>
		[...listWords(text)].filter((word) => asked.has(word)).length;
	for (const tool of tools) {
		const shared = descriptionWeight * countShared(tool.description);
		const score = 3 * countShared(readName(tool)) + shared;
		if (score > bestScore) [best, bestScore] = [tool, score];
	}
	return best;
}

/** Fills in the parameters that n8n shows to a model, by their labels. */
function fillArguments(tool: ChatTool, question: string, toolAnswers: readonly string[]) {
	const { properties } = tool.parameters;
	const names = Object.keys('toolParameters' in properties ? emailLabels : properties);
	const quoted = /["“']([^"”']+)["”']/.exec(question)?.[1];
	const address = /[\w.+-]+@[\w.-]+\w/.exec(question)?.[0] ?? 'ann@example.com';
	const valueFor = (name: string): string => {
		if (/^to$/i.test(name)) return address;
		if (/subject/i.test(name)) return quoted ?? 'About your question';
		if (/body|content|text/i.test(name)) return toolAnswers.at(-1) ?? quoted ?? question;
		if (/query/i.test(name)) return quoted ?? 'in:inbox';
		if (idName.test(name)) return findId(toolAnswers) ?? quoted ?? '';
		if (/task|input/i.test(name)) return question;
		return quoted ?? '';
	};
	const args = Object.fromEntries(names.map((name) => [name, valueFor(name)]));
	// A tool under review has n8n's schema: its own parameters, and those of the review.
	const isReviewed = 'toolParameters' in properties;
	return isReviewed ? { toolParameters: args, hitlParameters: {} } : args;
}

/** The labels of Mail: Send. The schema of a tool under review does not name those of the tool behind it. */
const emailLabels = { To: '', Subject: '', Body: '' };

/** The first ID that a tool has returned. */
const findId = (toolAnswers: readonly string[]) =>
	/"(?:message|document|spreadsheet)?[iI]d":\s*"([^"]+)"/.exec(toolAnswers.join('\n'))?.[1];
