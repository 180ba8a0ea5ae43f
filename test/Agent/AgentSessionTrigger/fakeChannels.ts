import type {
	connect,
	Connection,
	ConnectionListener,
	ConnectionOptions,
} from '../../../nodes/Agent/session/connection';
import { FrameSequence } from '../../../nodes/Agent/session/frameSequence';
import type { NodeError } from '../../../nodes/core/errors';

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
	readonly frames: FrameSequence[] = [];

	readonly connect = (
		options: ConnectionOptions,
		_read: unknown,
		listener: ConnectionListener,
		{ frameSequence: frames = new FrameSequence() }: Parameters<typeof connect>[3],
	): Connection => {
		this.options.push(options);
		this.listeners.push(listener);
		this.frames.push(frames);
		const note = (word: string) => void this.log.push(`${word} ${options.sessionId}`);
		return {
			getStatus: () => this.status,
			isClosing: () => this.isClosing(),
			pause: () => {
				note('pause');
			},
			resume: () => {
				note('resume');
			},
			close: async (lossReason) => {
				note('close');
				await Promise.resolve();
				if (lossReason) for (const text of this.lastWords.splice(0)) this.send(text);
				return this.isRead;
			},
		};
	};

	alert(sessionId: string, failure: NodeError, alert: 'refused' | 'outage'): void {
		const index = this.options.findIndex((options) => options.sessionId === sessionId);
		const next = {
			decision: 'backoff',
			delayMilliseconds: 1000,
			isFirstOfOutage: true,
		} as const;
		const closeReason = { kind: 'dropped' } as const;
		this.listeners[index]?.onChannelEnd?.({
			...next,
			closeReason,
			wasOpen: false,
			failure,
			alert,
		});
	}

	/** A frame arrives on the channel of a session, after a gap where one is given. */
	send(text: string, index = 0, gapMs?: number, isBinary = false): void {
		const frames = this.frames[index] ?? new FrameSequence();
		frames.addUnreportedGap(gapMs);
		const frame = frames.buildFrame({
			sessionId: this.options[index]?.sessionId ?? '',
			receivedAt: '2026-01-01T00:00:00.000Z',
			data: Buffer.from(text),
			isBinary,
		});
		this.listeners[index]?.onFrame(frame);
	}
}
