import type {
	ClosedConnection,
	Connection,
	ConnectionListener,
	ConnectionOptions,
	ConnectionStatus,
} from '../../../nodes/Agent/session/connection';
import type { NodeError } from '../../../nodes/core/errors';

/** Connections without a network: a test plays the channel. */
export class FakeChannels {
	readonly options: ConnectionOptions[] = [];
	readonly listeners: ConnectionListener[] = [];
	readonly log: string[] = [];
	status: ConnectionStatus = { state: 'open', lastFailure: undefined };
	closed: ClosedConnection = { isRead: true, openUntil: undefined };
	/** What the server sends before it has seen the goodbye. */
	readonly lastWords: string[] = [];
	readonly #sequences: number[] = [];

	readonly connect = (
		options: ConnectionOptions,
		_read: unknown,
		listener: ConnectionListener,
	): Connection => {
		this.options.push(options);
		this.listeners.push(listener);
		const note = (word: string) => void this.log.push(`${word} ${options.sessionId}`);
		return {
			status: () => this.status,
			pause: () => {
				note('pause');
			},
			resume: () => {
				note('resume');
			},
			close: async (takesLast) => {
				note('close');
				await Promise.resolve();
				if (takesLast) for (const text of this.lastWords.splice(0)) this.send(text);
				return this.closed;
			},
		};
	};

	alert(sessionId: string, failure: NodeError, kind: 'refused' | 'outage'): void {
		const index = this.options.findIndex((options) => options.sessionId === sessionId);
		this.listeners[index]?.alert?.(failure, kind);
	}

	/** A frame arrives on the channel of a session. */
	send(text: string, index = 0, gapMs?: number, isBinary = false): void {
		const data = Buffer.from(text);
		const sequence = (this.#sequences[index] ?? 0) + 1;
		this.#sequences[index] = sequence;
		this.listeners[index]?.message({
			sessionId: this.options[index]?.sessionId ?? '',
			sequence,
			receivedAt: '2026-01-01T00:00:00.000Z',
			byteLength: data.length,
			...(gapMs !== undefined && { gapMs }),
			data,
			isBinary,
			readAs: 'auto',
		});
	}
}
