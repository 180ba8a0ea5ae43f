import type {
	connect,
	Connection,
	ConnectionListener,
	ConnectionOptions,
	EndedChannel,
} from '../../../nodes/Agent/session/connection';
import type { ChannelHistory } from '../../../nodes/Agent/session/closeReason';
import { NodeError } from '../../../nodes/core/errors';

/** Connections without a network: a test plays the channel. */
export class FakeChannels {
	readonly options: ConnectionOptions[] = [];
	readonly listeners: ConnectionListener[] = [];
	readonly log: string[] = [];
	status: ReturnType<Connection['getStatus']> = { isOpen: true, lastFailure: undefined };
	/** Whether the channel has begun to close. */
	isClosing = () => false;
	/** Whether a channel has read all that the server had sent when it closes. */
	isRead = true;
	/** What the server sends before it has seen the goodbye. */
	readonly lastWords: string[] = [];
	readonly histories: ChannelHistory[] = [];
	/** How many frames each channel has brought. */
	readonly #counts: number[] = [];

	readonly connect = (
		options: ConnectionOptions,
		_read: unknown,
		listener: ConnectionListener,
		{ history = {} }: Parameters<typeof connect>[3],
	): Connection => {
		this.options.push(options);
		this.listeners.push(listener);
		this.histories.push(history);
		const note = (word: string) => void this.log.push(`${word} ${options.sessionId}`);
		return {
			getStatus: () => this.status,
			isClosing: () => this.isClosing(),
			pause: note.bind(undefined, 'pause'),
			resume: note.bind(undefined, 'resume'),
			close: async (lossReason) => {
				note('close');
				await Promise.resolve();
				if (lossReason) for (const text of this.lastWords.splice(0)) this.send(text);
				return this.isRead;
			},
		};
	};

	/** The channel of a session opens. */
	open(index = 0, gapMs: number | null = null): void {
		const { sessionId = '' } = this.options[index] ?? {};
		const event = gapMs === null ? 'connected' : 'reconnected';
		const at = '2026-01-01T00:00:00.000Z';
		this.listeners[index]?.onEvent?.({ event, at, gapMs, sessionId, reason: null });
	}

	/** The server responds to a ping. */
	pong(): void {
		this.listeners[0]?.onPong?.();
	}

	/** The channel of a session is lost, or ends in another way. */
	end(otherwise: Partial<EndedChannel> = {}, index = 0): void {
		this.listeners[index]?.onChannelEnd?.({ ...lost, ...otherwise });
	}

	/** A frame arrives on the channel of a session, after a gap where one is given. */
	send(text: string, index = 0, gapMs?: number, isBinary = false): void {
		if (gapMs !== undefined) this.open(index, gapMs);
		const sequence = (this.#counts[index] ?? 0) + 1;
		this.#counts[index] = sequence;
		this.listeners[index]?.onFrame({
			sessionId: this.options[index]?.sessionId ?? '',
			sequence,
			receivedAt: '2026-01-01T00:00:00.000Z',
			data: Buffer.from(text),
			isBinary,
		});
	}

	/** Sends the numbers from 1 on. */
	sendNumbers(count: number): void {
		for (let n = 1; n <= count; n++) this.send(`${n}`);
	}
}

const lost: EndedChannel = {
	closeReason: { kind: 'dropped' },
	wasOpen: true,
	decision: 'backoff',
	failure: new NodeError({ code: 503, message: 'Lost' }),
	delayMilliseconds: 1000,
	isFirstOfOutage: true,
	mustAlert: false,
};
