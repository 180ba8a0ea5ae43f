import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { onLoopback } from '../loopback.ts';
import {
	buildRequest,
	type ChatMessage,
	type ChatRequest,
	type ChatTool,
	type Reply,
} from './chat.ts';
import { readResponsesRequest, type ResponsesBody, sendResponse } from './responses.ts';

export type { ChatMessage, ChatRequest, ChatTool, Reply };

export interface ChatModel {
	/** Base address for an OpenAI credential. */
	readonly url: string;
	readonly requests: ChatRequest[];
	/** Sets how the model replies. The function sees only what a real model would see. */
	answer(reply: (request: ChatRequest) => Reply): void;
	close(): Promise<void>;
}

/**
 * A chat model with OpenAI's interface whose replies come from a script.
 * @param maxCharacters of a request's messages and tools: a longer one is refused, as one that is beyond a model's context
 */
export async function startChatModel({ maxCharacters = Infinity } = {}): Promise<ChatModel> {
	const requests: ChatRequest[] = [];
	let reply: (request: ChatRequest) => Reply = () => 'Done.';
	const server = createServer((request, response) => {
		void respond(request, response).catch((error: unknown) => {
			response.writeHead(500).end(JSON.stringify({ error: { message: String(error) } }));
		});
	});
	async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const dialect = dialects[request.url ?? ''];
		if (!dialect) {
			const message = `Unknown request URL: ${request.method} ${request.url}`;
			refuse(response, 404, message, 'unknown_url');
			return;
		}
		const body: unknown = JSON.parse(await text(request));
		const seen = dialect.read(body);
		requests.push(seen);
		const tooLong = 'Your input exceeds the context window of this model.';
		if (countCharacters(seen) > maxCharacters)
			refuse(response, 400, tooLong, 'context_length_exceeded');
		else dialect.send(response, reply(seen), body);
	}
	const listening = await onLoopback(server);
	return {
		url: `${listening.url}/v1`,
		requests,
		answer(next) {
			reply = next;
		},
		close: () => listening.close(),
	};
}

/** Reads a request of one of OpenAI's two interfaces, and sends the reply in its form. */
interface Dialect {
	read(body: unknown): ChatRequest;
	send(response: ServerResponse, reply: Reply, body: unknown): void;
}

/** By path. */
const dialects: Readonly<Record<string, Dialect>> = {
	'/v1/chat/completions': {
		read(body) {
			const { messages, tools = [] } = body as Body;
			return buildRequest(
				messages,
				tools.map((tool) => tool.function),
			);
		},
		send(response, reply, body) {
			send(response, reply, (body as Body).stream === true);
		},
	},
	'/v1/responses': {
		read: (body) => readResponsesRequest(body as ResponsesBody),
		send(response, reply, body) {
			sendResponse(response, reply, body as ResponsesBody);
		},
	},
};

interface Body {
	readonly messages: readonly ChatMessage[];
	readonly tools?: ReadonlyArray<{ readonly function: ChatTool }>;
	readonly stream?: boolean;
}

/** What a request gives the model to read: its tools, and the conversation so far. */
export const countCharacters = ({ messages, tools }: ChatRequest): number =>
	JSON.stringify({ messages, tools }).length;

function refuse(response: ServerResponse, status: number, message: string, code?: string): void {
	const error = { message, type: 'invalid_request_error', code };
	response
		.writeHead(status, { 'content-type': 'application/json' })
		.end(JSON.stringify({ error }));
}

let counter = 0;

const buildCall = ({ tool, args }: { tool: string; args: object }, index: number) => ({
	index,
	id: `call_${++counter}`,
	type: 'function',
	function: { name: tool, arguments: JSON.stringify(args) },
});

function send(response: ServerResponse, reply: Reply, stream: boolean): void {
	const isText = typeof reply === 'string';
	const message = isText
		? { role: 'assistant', content: reply }
		: { role: 'assistant', content: null, tool_calls: reply.map(buildCall) };
	const finish_reason = isText ? 'stop' : 'tool_calls';
	const common = { id: `chat-${++counter}`, created: 0, model: 'scripted' };
	if (!stream) {
		const choices = [{ index: 0, message, finish_reason }];
		const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
		return;
	}
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	const chunk = (choice: object) =>
		response.write(
			`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })}\n\n`,
		);
	chunk({ delta: message, finish_reason: null });
	chunk({ delta: {}, finish_reason });
	response.end('data: [DONE]\n\n');
}
