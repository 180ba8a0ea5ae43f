// A conversation with a chat model, whichever interface it came by.

export interface ChatMessage {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content: string | null;
	/** In a tool's answer: the ID of the call that it answers. */
	readonly tool_call_id?: string | undefined;
}

export interface ChatTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: {
		readonly properties: Readonly<Record<string, { description?: string }>>;
	};
}

export interface ChatRequest {
	readonly messages: readonly ChatMessage[];
	readonly tools: readonly ChatTool[];
	/** What the tools returned since the user's last message, in order. */
	readonly toolAnswers: readonly string[];
}

export function buildRequest(
	messages: readonly ChatMessage[],
	tools: readonly ChatTool[],
): ChatRequest {
	const lastUser = messages.findLastIndex(({ role }) => role === 'user');
	const answers = messages.slice(lastUser + 1).filter(({ role }) => role === 'tool');
	return { messages, tools, toolAnswers: answers.map(({ content }) => content ?? '') };
}

/** A sentence, or the tools to call. */
export type Reply =
	string | ReadonlyArray<{ readonly tool: string; readonly args: Record<string, unknown> }>;
