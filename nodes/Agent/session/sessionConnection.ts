import { systemClock } from '../../core/runtime';
import type { NodeError } from '../../core/errors';
import { Channel } from './channel';
import { type CloseReason, failureOf, reasonOf } from './closeReason';
import type {
	ClosedConnection,
	Connection,
	ConnectionEnvironment,
	ConnectionEvent,
	ConnectionListener,
	ConnectionOptions,
	ConnectionState,
	ConnectionStatus,
	EndedChannel,
	SessionSettings,
} from './connection';
import { type ConnectRequest, ConnectRequests, type ReadIdentity } from './connectRequest';
import { FrameSequence, type SessionFrame } from './messages';
import { type Recovering, Recovery } from './reconnect';
import type { OpenSocket } from './webSocket';

/** Tells the listener and the log of one connection; the listener nothing more after `stop()`. */
class Reporter {
	readonly #sessionId: string;
	readonly #listener: ConnectionListener;
	readonly #environment: ConnectionEnvironment;
	#stopped = false;

	constructor(sessionId: string, listener: ConnectionListener, environment: ConnectionEnvironment) {
		this.#sessionId = sessionId;
		this.#listener = listener;
		this.#environment = environment;
	}

	stop(): void {
		this.#stopped = true;
	}

	message(frame: SessionFrame): void {
		this.#tell(() => {
			this.#listener.message(frame);
		});
	}

	opened(gap: { readonly gapMs: number; readonly reason: string } | undefined): void {
		this.#event(gap === undefined ? 'connected' : 'reconnected', gap?.gapMs ?? null, gap?.reason ?? null);
	}

	answered(): void {
		this.#tell(() => this.#listener.answered?.());
	}

	ended(channel: EndedChannel, reason: string): void {
		this.#tell(() => this.#listener.ended?.(channel));
		if (channel.opened) this.#event('disconnected', null, reason);
	}

	alert(failure: NodeError, kind: 'refused' | 'outage'): void {
		this.#tell(() => this.#listener.alert?.(failure, kind));
	}

	log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#sessionId}: ${text}`);
	}

	/** ISO 8601. */
	now(): string {
		return new Date(this.#environment.clock.wallMilliseconds()).toISOString();
	}

	#event(event: ConnectionEvent['event'], gapMs: number | null, reason: string | null): void {
		const told = { sessionId: this.#sessionId, event, at: this.now(), gapMs, reason };
		this.#tell(() => this.#listener.event?.(told));
	}

	/** Nothing that the listener throws may end the channel. */
	#tell(call: () => void): void {
		if (this.#stopped) return;
		try {
			call();
		} catch (error) {
			// By its name only: the text may quote a message.
			this.log('warn', `a listener failed with ${error instanceof Error ? error.name : typeof error}`);
		}
	}
}

/** For reading the credentials: n8n's database may hang too. */
const preparationMilliseconds = 20_000;

/** Channel after channel of one session. Each attempt has a number; what belongs to an older one is dropped. */
class SessionConnection implements Connection {
	readonly #settings: SessionSettings;
	readonly #requests: ConnectRequests;
	readonly #reporter: Reporter;
	readonly #environment: ConnectionEnvironment;
	readonly #frames: FrameSequence;
	readonly #recovery: Recovery;
	#state: ConnectionState = 'idle';
	#attempt = 0;
	#attemptsSinceOpen = 0;
	#channel: Channel | undefined;
	/** The wait for the next attempt, or the limit of the one that is being prepared. */
	#cancelTimer = () => {};
	#leaveQueue = () => {};
	#pauseWanted = false;
	#lastFailure: NodeError | undefined;
	#host: string | undefined;
	#closing: Promise<ClosedConnection> | undefined;

	constructor(
		settings: SessionSettings,
		readIdentity: ReadIdentity,
		listener: ConnectionListener,
		environment: ConnectionEnvironment,
	) {
		this.#settings = settings;
		this.#environment = environment;
		this.#requests = new ConnectRequests(settings.sessionId, readIdentity);
		this.#reporter = new Reporter(settings.sessionId, listener, environment);
		this.#frames = new FrameSequence(settings.sessionId, settings.messageFormat);
		this.#recovery = new Recovery(settings.policy, environment.clock, environment.random);
		if (settings.openUntil !== undefined)
			this.#frames.gap.lost(settings.openUntil, 'the trigger was stopped');
		this.#schedule(0);
	}

	status(): ConnectionStatus {
		return { state: this.#state, attempts: this.#attemptsSinceOpen, lastFailure: this.#lastFailure };
	}

	pause(): void {
		this.#pauseWanted = true;
		if (this.#state === 'closed') this.#channel?.pause();
		if (this.#state !== 'open') return;
		this.#state = 'paused';
		this.#channel?.pause();
	}

	resume(): void {
		this.#pauseWanted = false;
		if (this.#state !== 'paused') return;
		this.#state = 'open';
		this.#channel?.resume();
	}

	close(takesLast = false): Promise<ClosedConnection> {
		this.#closing ??= this.#shut(takesLast);
		return this.#closing;
	}

	async #shut(takesLast: boolean): Promise<ClosedConnection> {
		const now = this.#environment.clock.monotonicMilliseconds();
		this.#state = 'closed';
		if (!takesLast) this.#reporter.stop();
		this.#attempt++;
		this.#cancelTimers();
		const isRead = (await this.#channel?.close(takesLast)) ?? true;
		this.#reporter.stop();
		return { isRead, openUntil: this.#frames.gap.openUntil(now) };
	}

	#schedule(delayMilliseconds: number): void {
		const { clock, rateLimiter } = this.#environment;
		this.#cancelTimer = clock.after(delayMilliseconds, () => {
			this.#leaveQueue = rateLimiter.pass(() => {
				void this.#try();
			});
		});
	}

	async #try(): Promise<void> {
		const attempt = ++this.#attempt;
		this.#state = 'connecting';
		this.#attemptsSinceOpen++;
		this.#cancelTimer = this.#environment.clock.after(preparationMilliseconds, () => {
			this.#ended({ kind: 'credentials', message: 'reading them took too long', isMistake: false });
		});
		try {
			const openSocket = await this.#environment.loadSocket();
			const request = await this.#requests.next();
			if (attempt !== this.#attempt) return;
			this.#cancelTimer();
			this.#openChannel(openSocket, request);
		} catch (error) {
			if (attempt !== this.#attempt) return;
			this.#ended(this.#requests.explain(error));
		}
	}

	#openChannel(openSocket: OpenSocket, { host, ...address }: ConnectRequest): void {
		this.#host = host;
		const listener = {
			opened: () => {
				this.#opened();
			},
			message: (data: Buffer, isBinary: boolean) => {
				this.#received(data, isBinary);
			},
			answered: () => {
				this.#reporter.answered();
			},
			ended: (closeReason: CloseReason, silentMilliseconds: number) => {
				this.#ended(closeReason, silentMilliseconds);
			},
			unanswered: () => {
				this.#reporter.log(
					'info',
					'the server does not respond to pings, so a lost connection may be detected late',
				);
			},
		};
		const settings = { ...this.#settings.channel, ...address };
		this.#channel = new Channel(settings, listener, this.#environment.clock, openSocket);
	}

	#opened(): void {
		this.#state = this.#pauseWanted ? 'paused' : 'open';
		if (this.#pauseWanted) this.#channel?.pause();
		if (this.#attemptsSinceOpen > 1 || this.#lastFailure !== undefined)
			this.#reporter.log('info', 'reconnected');
		this.#attemptsSinceOpen = 0;
		this.#recovery.opened();
		const gap = this.#frames.gap.opened(this.#environment.clock.monotonicMilliseconds());
		this.#reporter.opened(gap);
	}

	#received(data: Buffer, isBinary: boolean): void {
		this.#recovery.received();
		this.#reporter.message(this.#frames.take(data, isBinary, this.#reporter.now()));
	}

	#ended(closeReason: CloseReason, silentMilliseconds = 0): void {
		const { clock } = this.#environment;
		const opened = this.#state === 'open' || this.#state === 'paused';
		this.#attempt++;
		this.#cancelTimers();
		if (opened) {
			this.#frames.gap.lost(clock.monotonicMilliseconds() - silentMilliseconds, reasonOf(closeReason));
		}
		const next = this.#recovery.ended(closeReason);
		this.#lastFailure = failureOf(closeReason, {
			sessionId: this.#settings.sessionId,
			host: this.#host,
			opened,
			nowMilliseconds: clock.wallMilliseconds(),
		});
		this.#state = next.slowLane ? 'slow' : 'backoff';
		this.#schedule(next.delayMilliseconds);
		this.#report(next, {
			closeReason,
			opened,
			decision: next.decision,
			failure: this.#lastFailure,
			retryInMilliseconds: next.delayMilliseconds,
			slowLane: next.slowLane,
		});
	}

	/** Last of all, because the listener may close this connection. */
	#report({ isFirst, alert }: Recovering, channel: EndedChannel): void {
		const reason = reasonOf(channel.closeReason);
		const seconds = Math.ceil(channel.retryInMilliseconds / 1000);
		this.#reporter.log(isFirst ? 'warn' : 'debug', `${reason}; next attempt in ${seconds} s`);
		this.#reporter.ended(channel, reason);
		if (alert !== undefined) this.#reporter.alert(channel.failure, alert);
	}

	#cancelTimers(): void {
		this.#cancelTimer();
		this.#leaveQueue();
		this.#recovery.stop();
	}
}

/**
 * Keeps the channel of one session open, channel after channel, until `close()`. The first attempt starts by itself,
 * after this call has returned.
 */
export function connect(
	options: ConnectionOptions,
	readIdentity: ReadIdentity,
	listener: ConnectionListener,
	environment: Partial<ConnectionEnvironment> = {},
): Connection {
	return new SessionConnection(settingsOf(options), readIdentity, listener, {
		...realEnvironment,
		...environment,
	});
}

const realEnvironment: ConnectionEnvironment = {
	clock: systemClock,
	random: Math.random,
	loadSocket,
	rateLimiter: {
		pass: (call) => {
			call();
			return () => {};
		},
	},
	log: { debug() {}, info() {}, warn() {} },
};

let loaded: Promise<OpenSocket> | undefined;

/**
 * In a file of its own: the build loads it, and the WebSocket library, at first use. Kept from then on: what is published goes on with
 * this code when the package is updated, and by then the file is gone.
 */
function loadSocket(): Promise<OpenSocket> {
	loaded ??= import('./webSocket').then(
		({ openSocket }) => openSocket,
		(error: unknown) => {
			loaded = undefined;
			throw error;
		},
	);
	return loaded;
}

function settingsOf(options: ConnectionOptions): SessionSettings {
	return {
		sessionId: options.sessionId,
		messageFormat: options.messageFormat ?? 'auto',
		openUntil: options.openUntil,
		channel: {
			maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
			heartbeatMilliseconds: (options.heartbeatSeconds ?? 25) * 1000,
			pingText: options.pingText ?? '',
			initialMessage: options.initialMessage ?? '',
		},
		policy: {
			maxDelayMilliseconds: (options.reconnectMaxDelaySeconds ?? 60) * 1000,
			finalCloseCodes: options.finalCloseCodes ?? [],
		},
	};
}
