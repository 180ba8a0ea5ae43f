import { fetchPublished } from '../../dev/n8n/forms.ts';

export interface McpTool {
	readonly name: string;
	readonly description: string;
	readonly inputSchema: { readonly properties?: Readonly<Record<string, unknown>> };
}

export interface McpAnswer {
	readonly isError?: boolean;
	readonly content: ReadonlyArray<{ readonly text: string }>;
}

/** As much of an MCP client as a test needs: streamable HTTP with a bearer token. */
export class McpClient {
	private readonly url: string;
	private readonly token: string;
	private session: string | undefined;
	private count = 0;

	constructor(url: string, token: string) {
		this.url = url;
		this.token = token;
	}

	/** Waits for a server that has just been published. */
	async connect(): Promise<void> {
		const clientInfo = { name: 'test', version: '1.0.0' };
		await this.request('initialize', {
			protocolVersion: '2025-06-18',
			capabilities: {},
			clientInfo,
		});
		await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
	}

	async tools(): Promise<McpTool[]> {
		return (await this.request<{ tools: McpTool[] }>('tools/list', {})).tools;
	}

	async call(name: string, args: Record<string, unknown>): Promise<McpAnswer> {
		return await this.request('tools/call', { name, arguments: args });
	}

	private async request<T>(method: string, params: object): Promise<T> {
		const id = ++this.count;
		const answer = await this.post({ jsonrpc: '2.0', id, method, params });
		const text = await answer.text();
		const lines = text.startsWith('{')
			? [text]
			: text.split('\n').filter((line) => line.startsWith('data: '));
		const messages = lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Message);
		const own = messages.find((message) => message.id === id);
		if (own?.result === undefined) throw new Error(`${method}: ${answer.status} ${text}`);
		return own.result as T;
	}

	private async post(message: object): Promise<Response> {
		const answer = await fetchPublished(this.url, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${this.token}`,
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(this.session && { 'mcp-session-id': this.session }),
			},
			body: JSON.stringify(message),
		});
		this.session ??= answer.headers.get('mcp-session-id') ?? undefined;
		return answer;
	}
}

interface Message {
	readonly id?: number;
	readonly result?: unknown;
}
