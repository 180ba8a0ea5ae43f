import type { IExecuteFunctions } from 'n8n-workflow';

import { type Clock } from '../../core/runtime';
import { isNodeError, type NodeError } from '../../core/errors';
import { networkErrorOf } from '../../http/networkErrors';
import { type CloseReason } from '../session/closeReason';
import type { Redact } from '../session/credentials';
import { type ReadIdentity } from '../session/connectRequest';
import type { connect, Connection, ConnectionEvent, EndedChannel } from '../session/connection';
import { messageOf, type SessionFrame, type SessionMessage } from '../session/messages';
import {
	agentFailed,
	channelLost,
	messageDetails,
	notOpen,
	notOver,
	stoppedAfterCall,
	stoppedBeforeCall,
	tooMany,
	withLoss,
} from './errors';
import { type EndedBy, MessageCollector, type MessageEnd, type WaitOver } from './messageCollector';
import type { WaitSettings } from './parameters';

interface WaitParts {
	readonly sessionId: string;
	/** The session, with its service and user. */
	readonly conversation: string;
	readonly settings: WaitSettings;
	/** Read again at every attempt to open the channel. */
	readonly readIdentity: ReadIdentity;
	readonly signal: AbortSignal | undefined;
	readonly log: Pick<IExecuteFunctions['logger'], 'debug' | 'info' | 'warn'>;
	readonly clock: Clock;
	readonly connect: typeof connect;
	/** Removes the secrets from the service's texts. */
	readonly redact: Redact;
	/** Gets each message of the turn as it comes. */
	readonly onMessage: (message: SessionMessage, ends?: MessageEnd) => void;
}

export interface TryHooks {
	/** Before it. @throws NodeError if the channel is not open in time: nothing may be sent */
	ready(): Promise<void>;
	/** The moment when it goes out. */
	sending(): void;
}

export interface Waited {
	/** Came before the call was sent. */
	readonly early: readonly SessionMessage[];
	/** Of the turn. */
	readonly messages: readonly SessionMessage[];
	readonly endedBy: EndedBy;
	/** Whether the channel was lost before the end: messages may be missing. */
	readonly gap: boolean;
	/** How the service closed the channel last, if it did. */
	readonly close: { readonly code: number; readonly reason: string } | undefined;
	/** Messages that were left out because their ID had come before in the same turn. */
	readonly repeated: number;
}

/** For the channel to open before the call. */
const openMilliseconds = 20_000;

/**
 * Makes the call while a channel collects the session's messages.
 * @param call sends the execute call; with `openChannel: before` only while the channel is open
 * @returns the answer, or why there is none although the message that was waited for has come
 * @throws NodeError whatever the call throws, and of the wait: not open, refused, not over in time, stopped, or what the agent reports.
 * After the call it holds the messages that came
 */
export async function callAndWait<T>(
	parts: WaitParts,
	call: (hooks: TryHooks) => Promise<T>,
): Promise<{ readonly called: T | NodeError; readonly waited: Waited }> {
	const wait = new Wait(parts);
	try {
		const called = await call(wait).catch((error: unknown) => wait.callFailed(error));
		return { called, waited: await wait.ended() };
	} finally {
		await wait.close();
	}
}

/** A promise that is settled from outside. A rejection that nobody waits for can be ignored. */
class Deferred<T> {
	resolve: (value: T) => void = () => {};
	reject: (error: Error) => void = () => {};
	readonly promise = new Promise<T>((resolve, reject) => {
		this.resolve = resolve;
		this.reject = reject;
	});

	constructor() {
		this.promise.catch(() => undefined);
	}
}

/** One channel for one item of one execution. */
class Wait implements TryHooks {
	readonly #parts: WaitParts;
	readonly #collector: MessageCollector;
	readonly #readiness: Readiness;
	readonly #ended = new Deferred<WaitOver>();
	#connection: Connection | undefined;
	#isSent = false;
	/** The time for the channel to open is over. */
	#isOverdue = false;
	/** Attempts to open the channel, since it was open last, that failed with a fault that does not pass by itself. */
	#hopelessAttempts = 0;
	/** Since the call was sent: how the channel was lost last. */
	#loss: NodeError | undefined;
	#close: Waited['close'];

	constructor(parts: WaitParts) {
		const { settings, conversation, clock, signal, onMessage } = parts;
		this.#parts = parts;
		this.#readiness = new Readiness(settings, clock);
		const over = (end: WaitOver) => {
			this.#ended.resolve(end);
		};
		this.#collector = new MessageCollector(settings, conversation, clock, over, onMessage);
		signal?.addEventListener('abort', this.#stop);
		if (signal?.aborted) this.#stop();
	}

	async ready(): Promise<void> {
		if (this.#parts.settings.openChannel !== 'before') return;
		this.#open();
		const cancel = this.#parts.clock.after(openMilliseconds, () => {
			this.#isOverdue = true;
			if (!this.#readiness.isOpen) this.#failReadiness();
		});
		await this.#readiness.ready.finally(cancel);
		this.#isOverdue = false;
	}

	sending(): void {
		this.#isSent = true;
		this.#loss = undefined;
		this.#close = undefined;
		this.#collector.callSent();
	}

	/** @returns the failure, if what was waited for has come all the same @throws it otherwise, with what came */
	callFailed(error: unknown): NodeError {
		const { end } = this.#collector;
		const hasCome = end === 'match' || end === 'count' || end === 'failure';
		const isDoubtful = isNodeError(error) && (error.ambiguous || error.carriedOut);
		if (hasCome && isDoubtful && !this.#parts.signal?.aborted) return error;
		if (!this.#isSent || !isNodeError(error)) throw error;
		throw this.#withDetails(this.#loss === undefined ? error : withLoss(error, this.#loss));
	}

	/** The call is answered: waits for the end of the messages. */
	async ended(): Promise<Waited> {
		this.#open();
		this.#collector.answered();
		const { log, settings, sessionId } = this.#parts;
		log.info(
			`Agent Execute: waits up to ${settings.waitTimeoutSeconds} s for messages of session ${sessionId}`,
		);
		try {
			const endedBy = this.#checked(await this.#ended.promise);
			const { early, messages, repeated } = this.#collector;
			return { early, messages, repeated, endedBy, gap: this.#loss !== undefined, close: this.#close };
		} catch (error) {
			throw isNodeError(error) ? this.#withDetails(error) : error;
		}
	}

	async close(): Promise<void> {
		this.#parts.signal?.removeEventListener('abort', this.#stop);
		this.#readiness.stop();
		this.#collector.stop();
		await this.#connection?.close();
	}

	#checked(end: WaitOver): EndedBy {
		const { settings, redact } = this.#parts;
		const { messages } = this.#collector;
		if (end === 'failure') throw agentFailed(messages.at(-1), settings.textField, redact);
		if (settings.onWaitTimeout === 'error' && end === 'timeout') {
			const loss = this.#lastFailure() ?? this.#loss;
			const failure = notOver(settings, this.#collector, redact);
			throw loss === undefined ? failure : withLoss(failure, loss);
		}
		if (settings.onWaitTimeout === 'error' && end === 'limit') throw tooMany(messages.length);
		return end;
	}

	#withDetails(failure: NodeError): NodeError {
		const details = messageDetails(this.#collector.messages, this.#parts.redact);
		return failure.with({ details: { ...failure.details, ...details, ...(this.#loss && { gap: true }) } });
	}

	/** While the call is running, it reports a stop itself. */
	readonly #stop = () => {
		this.#readiness.fail(stoppedBeforeCall());
		this.#ended.reject(stoppedAfterCall());
	};

	#open(): void {
		const { connect, settings, sessionId, readIdentity, clock, log } = this.#parts;
		const listener = {
			message: (frame: SessionFrame) => {
				this.#readiness.received();
				this.#collector.add(messageOf(frame));
			},
			event: ({ event }: ConnectionEvent) => {
				if (event === 'disconnected') return;
				this.#hopelessAttempts = 0;
				this.#readiness.opened();
			},
			answered: () => {
				this.#readiness.answered();
			},
			ended: (channel: EndedChannel) => {
				this.#channelEnded(channel);
			},
		};
		this.#connection ??= connect({ ...settings, sessionId }, readIdentity, listener, { clock, log });
	}

	#channelEnded({ closeReason, opened, decision, failure }: EndedChannel): void {
		this.#readiness.lost();
		const wasOver = this.#collector.end !== undefined;
		if (closeReason.kind === 'closeFrame') {
			if (!wasOver) this.#close = { code: closeReason.code, reason: closeReason.reason };
			this.#collector.closed();
		}
		if (opened && this.#isSent && this.#collector.end === undefined) this.#loss = failure;
		if (!opened && isHopeless(closeReason)) this.#hopelessAttempts++;
		if (this.#isOverdue) this.#failReadiness();
		if (decision !== 'final' && this.#hopelessAttempts < 2) return;
		this.#failReadiness(closeReason);
		if (this.#isSent && !this.#collector.refused()) this.#ended.reject(channelLost(failure));
	}

	#failReadiness(refusal?: CloseReason): void {
		this.#readiness.fail(notOpen(openMilliseconds / 1000, this.#lastFailure(), refusal));
	}

	/** Why the channel is not open; undefined when it is. */
	#lastFailure(): NodeError | undefined {
		const status = this.#connection?.status();
		return status?.state === 'open' ? undefined : status?.lastFailure;
	}
}

/** No connection will come about until somebody mends something. */
function isHopeless(closeReason: CloseReason): boolean {
	if (closeReason.kind !== 'network') return false;
	const { what } = networkErrorOf(closeReason);
	return what === 'certificate' || what === 'handshake' || closeReason.code === 'ENOTFOUND';
}

/** At most, from the opening on: a session may never be quiet, and a server may answer no pings. */
const longestSettlingMilliseconds = 2000;

/**
 * Whether the channel is open and what a server sends when one opens has come: a greeting, or a repetition of earlier messages. The
 * first answer to a ping alone does not show it, because the server may read a database first.
 */
class Readiness {
	readonly #settleMilliseconds: number;
	readonly #clock: Clock;
	/** Otherwise no ping goes out when the channel opens. */
	readonly #isPinged: boolean;
	#ready = new Deferred<undefined>();
	#state: 'closed' | 'settling' | 'ready' = 'closed';
	#isAnswered = false;
	#cancelQuiet = () => {};
	#cancelLimit = () => {};

	constructor({ settleMilliseconds, heartbeatSeconds, pingText }: WaitSettings, clock: Clock) {
		this.#settleMilliseconds = settleMilliseconds;
		this.#isPinged = heartbeatSeconds > 0 && pingText === '';
		this.#clock = clock;
	}

	/** Rejects once `fail` was called. */
	get ready(): Promise<undefined> {
		return this.#ready.promise;
	}

	get isOpen(): boolean {
		return this.#state !== 'closed';
	}

	opened(): void {
		this.#state = 'settling';
		this.#isAnswered = !this.#isPinged;
		this.#cancelLimit = this.#clock.after(longestSettlingMilliseconds, () => {
			this.#settled();
		});
		this.received();
	}

	/** The server has answered the first ping. */
	answered(): void {
		this.#isAnswered = true;
		this.received();
	}

	received(): void {
		if (this.#state === 'ready' || !this.#isAnswered) return;
		this.#cancelQuiet();
		this.#cancelQuiet = this.#clock.after(this.#settleMilliseconds, () => {
			this.#settled();
		});
	}

	lost(): void {
		this.stop();
		if (this.#state === 'ready') this.#ready = new Deferred();
		this.#state = 'closed';
	}

	fail(failure: NodeError): void {
		this.#ready.reject(failure);
	}

	/** Leaves no timer. */
	stop(): void {
		this.#cancelQuiet();
		this.#cancelLimit();
	}

	#settled(): void {
		this.stop();
		this.#state = 'ready';
		this.#ready.resolve(undefined);
	}
}
