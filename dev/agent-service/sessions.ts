import type { WebSocket } from 'ws';

import type { Message, RawFrame } from './script.ts';

/** What a channel's peer sent. */
export interface ReceivedMessage {
	readonly sessionId: string;
	readonly data: Buffer;
	readonly isBinary: boolean;
}

export interface Session {
	readonly sessionId: string;
	readonly sockets: Set<WebSocket>;
	/** The latest messages of the session, for channels that open later. */
	readonly recent: Message[];
	/** Number of execute calls accepted for the session. */
	executions: number;
	/** Number of messages sent to the session, with or without a listener. */
	sent: number;
}

export class SessionStore {
	readonly byId = new Map<string, Session>();
	/** How many of the latest messages are kept for a channel that opens later. */
	private readonly replay: number;

	constructor(replay: number) {
		this.replay = replay;
	}

	get(sessionId: string): Session {
		const knownSession = this.byId.get(sessionId);
		if (knownSession) return knownSession;
		const session = {
			sessionId,
			sockets: new Set<WebSocket>(),
			recent: [],
			executions: 0,
			sent: 0,
		};
		this.byId.set(sessionId, session);
		return session;
	}

	/** Sends to every open channel of the session. @returns the number of channels */
	send(sessionId: string, messages: readonly Message[]): number {
		const session = this.get(sessionId);
		session.sent += messages.length;
		if (this.replay > 0) {
			session.recent.push(...messages);
			session.recent.splice(0, Math.max(0, session.recent.length - this.replay));
		}
		for (const socket of session.sockets)
			for (const message of messages) sendMessage(socket, message);
		return session.sockets.size;
	}

	getSockets(sessionId?: string): WebSocket[] {
		if (sessionId !== undefined) return [...(this.byId.get(sessionId)?.sockets ?? [])];
		return [...this.byId.values()].flatMap(({ sockets }) => [...sockets]);
	}
}

export function sendMessage(socket: WebSocket, message: Message): void {
	if (socket.readyState !== socket.OPEN) return;
	if (isRawFrame(message)) socket.send(message.frame, { binary: message.isBinary });
	else if (typeof message === 'string' || Buffer.isBuffer(message)) socket.send(message);
	else socket.send(JSON.stringify(message));
}

function isRawFrame(message: Message): message is RawFrame {
	return (
		typeof message === 'object' &&
		message !== null &&
		'frame' in message &&
		Buffer.isBuffer(message.frame)
	);
}
