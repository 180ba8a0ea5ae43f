import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

import { disturbUpgrade, refuseUpgrade } from './handshake.ts';
import type { ReceivedUpgrade, ServiceState } from './options.ts';
import type { UpgradeStep } from './script.ts';
import { type ReceivedMessage, sendMessage } from './sessions.ts';

const queryFields = ['sessionId', 'userPublicKey', 'signature', 'timestamp', 'apiKey'];

/** Answers `GET {prefix}/ws` and keeps the channels of all sessions. */
export class ChannelEndpoint {
	readonly upgrades: ReceivedUpgrade[] = [];
	readonly steps: UpgradeStep[] = [];
	/** What arrived on the channels. */
	readonly received: ReceivedMessage[] = [];
	/** Pings that arrived, by session. */
	readonly pings = new Map<string, number>();
	private readonly service: ServiceState;
	private readonly path: string;
	private readonly answeringServer = new WebSocketServer({ noServer: true });
	private readonly silentServer = new WebSocketServer({ noServer: true, autoPong: false });

	constructor(service: ServiceState) {
		this.service = service;
		this.path = `${service.prefix}/ws`;
	}

	/** Accepts, refuses or disturbs an upgrade request. */
	answer(request: IncomingMessage, socket: Socket, head: Buffer): void {
		const received = readUpgrade(request);
		if (this.service.options.keepLog !== false) this.upgrades.push(received);
		const step = this.steps.shift() ?? this.service.options.upgrade?.(received) ?? {};
		const respond = (): void => {
			if (socket.destroyed) return;
			const refusal =
				step.status === undefined && !step.fault ? this.findRefusal(received) : step;
			if (step.fault) disturbUpgrade(request, socket, step.fault);
			else if (refusal?.status !== undefined) refuseUpgrade(socket, refusal.status, refusal);
			else this.accept(request, socket, head, received.query.sessionId ?? '', step);
		};
		if (step.delayMilliseconds) this.service.timers.after(step.delayMilliseconds, respond);
		else respond();
	}

	private findRefusal({ path, query }: ReceivedUpgrade): UpgradeStep | undefined {
		if (path !== this.path) return { status: 404, body: `There is nothing at ${path}` };
		if (query.apiKey !== this.service.apiKey)
			return { status: 401, body: 'The API key is not valid' };
		const missingFields = queryFields.filter((name) => !query[name]);
		if (missingFields.length > 0)
			return { status: 400, body: `missing: ${missingFields.join(', ')}` };
		return /^\d+$/.test(query.timestamp ?? '')
			? undefined
			: { status: 400, body: 'timestamp is not a number' };
	}

	private accept(
		request: IncomingMessage,
		socket: Socket,
		head: Buffer,
		sessionId: string,
		step: UpgradeStep,
	): void {
		const server = step.noPong ? this.silentServer : this.answeringServer;
		server.handleUpgrade(request, socket, head, (channel) => {
			this.register(channel, sessionId);
			const session = this.service.sessions.get(sessionId);
			for (const message of [...session.recent, ...(step.messages ?? [])])
				sendMessage(channel, message);
			for (let pings = step.pings ?? 0; pings > 0; pings--) channel.ping();
			if (step.closeCode === undefined && !step.drop) return;
			this.service.timers.after(step.closeAfterMilliseconds ?? 0, () => {
				endChannel(channel, socket, step);
				if (step.endAfterMilliseconds === undefined) return;
				channel.pause();
				this.service.timers.after(step.endAfterMilliseconds, () => {
					channel.resume();
				});
			});
		});
	}

	private register(channel: WebSocket, sessionId: string): void {
		const { kickCode } = this.service.options;
		const { received, pings } = this;
		const { sockets } = this.service.sessions.get(sessionId);
		if (kickCode !== undefined)
			for (const oldChannel of sockets) oldChannel.close(kickCode, 'replaced');
		sockets.add(channel);
		channel.on('close', () => sockets.delete(channel));
		channel.on('error', () => {
			// The stand-in reacts only to the `close` that follows.
		});
		channel.on('ping', () => pings.set(sessionId, (pings.get(sessionId) ?? 0) + 1));
		channel.on('message', (data, isBinary) => {
			received.push({ sessionId, data: data as Buffer, isBinary });
		});
	}
}

function readUpgrade({ url = '', headers }: IncomingMessage): ReceivedUpgrade {
	const { pathname, searchParams } = new URL(url, 'ws://host');
	return {
		url,
		path: pathname,
		query: Object.fromEntries(searchParams),
		headers,
		receivedAt: Date.now(),
	};
}

function endChannel(
	channel: WebSocket,
	socket: Socket,
	{ drop, closeCode, closeReason }: UpgradeStep,
): void {
	if (drop === 'reset') socket.resetAndDestroy();
	else if (drop === 'end') socket.end();
	else if (closeCode === undefined || closeCode === 1005) channel.close();
	else channel.close(closeCode, closeReason);
}
