import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import type { WebSocket } from 'ws';

import { ChannelEndpoint } from './channel.ts';
import { buildErrorBody, ExecuteEndpoint } from './execute.ts';
import type { AgentServiceOptions, ReceivedUpgrade, ServiceState } from './options.ts';
import type { ExecuteFields, ReceivedRequest } from './request.ts';
import type { ExecuteStep, Message, UpgradeStep } from './script.ts';
import { type ReceivedMessage, type Session, SessionStore } from './sessions.ts';
import { Timers } from './timers.ts';

export type {
	AgentServiceOptions,
	ExecuteFields,
	ExecuteStep,
	Message,
	ReceivedMessage,
	ReceivedRequest,
	ReceivedUpgrade,
	Session,
	UpgradeStep,
};

/** The API key that the stand-in accepts by default. */
export const defaultApiKey = 'test-api-key';

/**
 * Starts a stand-in for the agent service. It does what is known of the service, and every fault on demand.
 * @throws an error with the code EADDRINUSE if the port is in use
 */
export async function startAgentService(options: AgentServiceOptions = {}): Promise<AgentService> {
	const service = new AgentService(options);
	await service.listen();
	return service;
}

export class AgentService {
	readonly apiKey: string;
	private readonly state: ServiceState;
	private readonly server: http.Server;
	private readonly sockets = new Set<Socket>();
	private readonly executeEndpoint: ExecuteEndpoint;
	private readonly channelEndpoint: ChannelEndpoint;
	private connectionCount = 0;
	private address: AddressInfo | undefined;

	constructor(options: AgentServiceOptions) {
		this.apiKey = options.apiKey ?? defaultApiKey;
		const prefix = (options.pathPrefix ?? '').replace(/\/+$/, '');
		const sessions = new SessionStore(options.replay ?? 0);
		this.state = { options, apiKey: this.apiKey, prefix, sessions, timers: new Timers() };
		this.executeEndpoint = new ExecuteEndpoint(this.state);
		this.channelEndpoint = new ChannelEndpoint(this.state);
		this.server = options.tls ? https.createServer(readCertificate()) : http.createServer();
		this.attachHandlers();
	}

	/** Base address of the execute call. */
	get url(): string {
		const { host = '127.0.0.1', tls } = this.state.options;
		return `${tls ? 'https' : 'http'}://${host}:${this.port}${this.state.prefix}`;
	}

	/** Base address of the session channel. */
	get webSocketUrl(): string {
		return this.url.replace(/^http/, 'ws');
	}

	/** Stays the same after `close`, so that another service can take its place. */
	get port(): number {
		return this.address?.port ?? 0;
	}

	get requests(): ReceivedRequest[] {
		return this.executeEndpoint.requests;
	}

	get upgrades(): ReceivedUpgrade[] {
		return this.channelEndpoint.upgrades;
	}

	/** What arrived on the channels. */
	get received(): ReceivedMessage[] {
		return this.channelEndpoint.received;
	}

	/** Pings that arrived, by session. */
	get pings(): ReadonlyMap<string, number> {
		return this.channelEndpoint.pings;
	}

	/** Number of TCP connections accepted so far. */
	get connections(): number {
		return this.connectionCount;
	}

	get sessions(): ReadonlyMap<string, Session> {
		return this.state.sessions.byId;
	}

	/** Number of open channels, of one session or of all. */
	countOpenChannels(sessionId?: string): number {
		return this.getChannels(sessionId).filter(({ readyState, OPEN }) => readyState === OPEN)
			.length;
	}

	/** The server ends of the open channels. */
	getChannels(sessionId?: string): WebSocket[] {
		return this.state.sessions.getSockets(sessionId);
	}

	/** Queues answers for the next execute requests, one each, in order of arrival. */
	script(...steps: ExecuteStep[]): void {
		this.executeEndpoint.steps.push(...steps);
	}

	/** Refuses the next execute requests with these statuses. */
	fail(...statuses: number[]): void {
		this.script(
			...statuses.map((status) => ({ status, body: buildErrorBody(status, 'scripted') })),
		);
	}

	/** Queues answers for the next upgrades, one each. */
	scriptUpgrades(...steps: UpgradeStep[]): void {
		this.channelEndpoint.steps.push(...steps);
	}

	/** Sends to every open channel of the session. @returns the number of channels */
	send(sessionId: string, ...messages: Message[]): number {
		return this.state.sessions.send(sessionId, messages);
	}

	/** Starts a close handshake on open channels. */
	closeChannels(code: number, reason = '', sessionId?: string): void {
		for (const channel of this.getChannels(sessionId)) channel.close(code, reason);
	}

	/** Ends open channels without a close frame. */
	dropChannels(sessionId?: string): void {
		for (const channel of this.getChannels(sessionId)) channel.terminate();
	}

	async listen(): Promise<void> {
		const { port = 0, host = '127.0.0.1' } = this.state.options;
		await new Promise<void>((resolve, reject) => {
			this.server.once('error', reject);
			// Room for a thousand simultaneous calls.
			this.server.listen({ port, host, backlog: 4096 }, resolve);
		});
		this.address = this.server.address() as AddressInfo;
	}

	/** Ends every connection and stops listening. May be called more than once. */
	async close(): Promise<void> {
		this.state.timers.clear();
		const closed = new Promise<void>((resolve) => {
			this.server.close(() => {
				resolve();
			});
		});
		for (const socket of this.sockets) socket.destroy();
		await closed;
	}

	private attachHandlers(): void {
		this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
			// A request that breaks off is its sender's problem.
			this.executeEndpoint.answer(request, response).catch(() => request.socket.destroy());
		});
		this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
			this.channelEndpoint.answer(request, socket, head);
		});
		this.server.on('connection', (socket: Socket) => {
			this.connectionCount++;
			this.sockets.add(socket);
			socket.on('error', () => socket.destroy());
			socket.on('close', () => this.sockets.delete(socket));
		});
	}
}

function readCertificate(): https.ServerOptions {
	const read = (name: string): string =>
		readFileSync(path.join(import.meta.dirname, 'certificate', name), 'utf8');
	return { key: read('test-only.key.pem'), cert: read('test-only.cert.pem') };
}
