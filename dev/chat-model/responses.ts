// OpenAI's Responses API, which n8n's OpenAI Chat Model uses unless it is told otherwise.
import type { ServerResponse } from 'node:http';

import {
	buildRequest,
	type ChatMessage,
	type ChatRequest,
	type ChatTool,
	type Reply,
} from './chat.ts';

interface InputItem {
	readonly type?: string;
	readonly role?: string;
	readonly content?: string | ReadonlyArray<{ readonly text?: string }>;
	readonly call_id?: string;
	readonly output?: string | ReadonlyArray<{ readonly text?: string }>;
}

export interface ResponsesBody {
	readonly model?: string;
	readonly input: string | readonly InputItem[];
	readonly tools?: readonly ChatTool[];
	readonly stream?: boolean;
}

/** The conversation so far, in the form of the chat completions. A call of a tool is left out, as its answer says all. */
export function readResponsesRequest({ input, tools = [] }: ResponsesBody): ChatRequest {
	const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
	return buildRequest(items.filter(({ type }) => type !== 'function_call').map(toMessage), tools);
}

function toMessage(item: InputItem): ChatMessage {
	if (item.type === 'function_call_output')
		return { role: 'tool', content: joinText(item.output), tool_call_id: item.call_id };
	const role = item.role === 'developer' ? 'system' : item.role;
	return { role: role as ChatMessage['role'], content: joinText(item.content) };
}

const joinText = (content: InputItem['content'] = '') =>
	typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');

let counter = 0;

export function sendResponse(response: ServerResponse, reply: Reply, body: ResponsesBody): void {
	const output = typeof reply === 'string' ? [buildMessage(reply)] : reply.map(buildCall);
	const result = {
		id: `resp_${++counter}`,
		object: 'response',
		created_at: 0,
		model: body.model ?? 'scripted',
		status: 'completed',
		error: null,
		incomplete_details: null,
		output,
		usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
	};
	if (body.stream !== true) {
		response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
		return;
	}
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	const send = (type: string, event: object) =>
		response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`);
	send('response.created', { response: { ...result, status: 'in_progress', output: [] } });
	for (const [output_index, item] of output.entries()) {
		const position = { item_id: item.id, output_index };
		if (item.type === 'message') {
			send('response.output_item.added', { output_index, item: { ...item, content: [] } });
			const delta = item.content[0]?.text ?? '';
			send('response.output_text.delta', { ...position, content_index: 0, delta });
		} else {
			send('response.output_item.added', { output_index, item: { ...item, arguments: '' } });
			const delta = item.arguments;
			send('response.function_call_arguments.delta', { ...position, delta });
		}
		send('response.output_item.done', { output_index, item });
	}
	send('response.completed', { response: result });
	response.end();
}

const buildMessage = (text: string) => ({
	type: 'message' as const,
	id: `msg_${++counter}`,
	status: 'completed',
	role: 'assistant',
	content: [{ type: 'output_text', text, annotations: [] }],
});

const buildCall = ({ tool, args }: { tool: string; args: Record<string, unknown> }) => ({
	type: 'function_call' as const,
	id: `fc_${++counter}`,
	call_id: `call_${counter}`,
	status: 'completed',
	name: tool,
	arguments: JSON.stringify(args),
});
