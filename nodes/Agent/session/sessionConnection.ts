import { Channel } from './channel';
import type {
	Connection,
	ConnectionEnvironment,
	ConnectionEvent,
	ConnectionListener,
	ConnectionState,
	ConnectionStatus,
	ReadIdentity,
	SessionSettings,
} from './connection';
import { failureOf, reasonOf, retryAfterOf } from './explanation';
import type { Failure } from '../../items/failure';
import type { Ending } from './failures';
import { Intake } from './intake';
import { Outage } from './outage';
import { Preparation, type Prepared } from './preparation';
import {
	afterEnding,
	afterMessage,
	firstDelayMilliseconds,
	stableMilliseconds,
	untroubled,
} from './reconnect';

/** For reading the credentials: n8n's database may hang too. */
const preparationMilliseconds = 20_000;

/** Channel after channel of one session. Each attempt has a number; what belongs to an older one is dropped. */
export class SessionConnection implements Connection {
	readonly #settings: SessionSettings;
	readonly #preparation: Preparation;
	readonly #listener: ConnectionListener;
	readonly #environment: ConnectionEnvironment;
	readonly #intake: Intake;
	readonly #outage = new Outage();
	#state: ConnectionState = 'idle';
	#attempt = 0;
	#attemptsSinceOpen = 0;
	#memory = untroubled;
	#channel: Channel | undefined;
	/** The next attempt, or the limit of the one that is being prepared. */
	#cancelTimer = () => {};
	#cancelStableTimer = () => {};
	#pauseWanted = false;
	#lastFailure: Failure | undefined;
	#host: string | undefined;
	#closing: Promise<void> | undefined;

	constructor(
		settings: SessionSettings,
		readIdentity: ReadIdentity,
		listener: ConnectionListener,
		environment: ConnectionEnvironment,
	) {
		this.#settings = settings;
		this.#listener = listener;
		this.#environment = environment;
		this.#preparation = new Preparation(settings.sessionId, readIdentity, environment.loadSocket);
		this.#intake = new Intake(settings.sessionId, settings.messageFormat);
		this.#outage.begins(environment.clock.monotonicMilliseconds());
		this.#schedule(firstDelayMilliseconds(settings.policy, environment.random));
	}

	status(): ConnectionStatus {
		return { state: this.#state, attempts: this.#attemptsSinceOpen, lastFailure: this.#lastFailure };
	}

	pause(): void {
		this.#pauseWanted = true;
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

	close(): Promise<void> {
		this.#closing ??= this.#shut();
		return this.#closing;
	}

	async #shut(): Promise<void> {
		this.#state = 'closed';
		this.#attempt++;
		this.#cancelTimers();
		await this.#channel?.close();
	}

	#schedule(delayMilliseconds: number): void {
		this.#cancelTimer = this.#environment.clock.after(delayMilliseconds, () => {
			void this.#try();
		});
	}

	async #try(): Promise<void> {
		const attempt = ++this.#attempt;
		this.#state = 'connecting';
		this.#attemptsSinceOpen++;
		this.#cancelTimer = this.#environment.clock.after(preparationMilliseconds, () => {
			this.#ended({ kind: 'credentials', message: 'it took too long' });
		});
		try {
			const prepared = await this.#preparation.make();
			if (attempt !== this.#attempt) return;
			this.#cancelTimer();
			this.#openChannel(prepared);
		} catch (error) {
			if (attempt === this.#attempt)
				this.#ended({ kind: 'credentials', message: this.#preparation.explain(error) });
		}
	}

	#openChannel({ openSocket, host, ...address }: Prepared): void {
		this.#host = host;
		const listener = {
			opened: () => {
				this.#opened();
			},
			message: (data: Buffer, isBinary: boolean) => {
				this.#received(data, isBinary);
			},
			ended: (ending: Ending, silentMilliseconds: number) => {
				this.#ended(ending, silentMilliseconds);
			},
			unanswered: () => {
				this.#log('info', 'the server does not answer pings; a dead link shows up late');
			},
		};
		const settings = { ...this.#settings.channel, ...address };
		this.#channel = new Channel(settings, listener, this.#environment.clock, openSocket);
	}

	#opened(): void {
		const { clock } = this.#environment;
		this.#state = this.#pauseWanted ? 'paused' : 'open';
		if (this.#pauseWanted) this.#channel?.pause();
		if (this.#attemptsSinceOpen > 1 || this.#lastFailure !== undefined) this.#log('info', 'open again');
		this.#attemptsSinceOpen = 0;
		this.#cancelStableTimer = clock.after(stableMilliseconds, () => {
			this.#memory = untroubled;
			this.#outage.ends();
		});
		const gap = this.#intake.gap.reopened(clock.monotonicMilliseconds());
		this.#tellEvent(gap === undefined ? 'connected' : 'reconnected', gap?.gapMs, gap?.reason);
	}

	#received(data: Buffer, isBinary: boolean): void {
		this.#memory = afterMessage(this.#memory);
		this.#outage.pauses();
		const message = this.#intake.take(data, isBinary, this.#now());
		this.#tell(() => {
			this.#listener.message(message);
		});
	}

	#ended(ending: Ending, silentMilliseconds = 0): void {
		const { clock, random } = this.#environment;
		const opened = this.#state === 'open' || this.#state === 'paused';
		const now = clock.monotonicMilliseconds();
		this.#attempt++;
		this.#cancelTimers();
		this.#outage.begins(now);
		if (opened) this.#intake.gap.lost(now - silentMilliseconds, reasonOf(ending));
		const wall = clock.wallMilliseconds();
		const next = afterEnding(this.#memory, ending, retryAfterOf(ending, wall), this.#settings.policy, random);
		const failure = failureOf(ending, { host: this.#host, nowMilliseconds: wall });
		this.#memory = next.memory;
		this.#lastFailure = failure;
		this.#state = next.memory.slow ? 'slow' : 'backoff';
		this.#schedule(next.delayMilliseconds);
		const again = `next attempt in ${Math.ceil(next.delayMilliseconds / 1000)} s`;
		this.#log(this.#outage.isFirst() ? 'warn' : 'debug', `${reasonOf(ending)}; ${again}`);
		const retryInMilliseconds = next.delayMilliseconds;
		const slowLane = next.memory.slow;
		this.#tell(() =>
			this.#listener.ended?.({
				ending,
				opened,
				verdict: next.verdict,
				failure,
				retryInMilliseconds,
				slowLane,
			}),
		);
		if (opened) this.#tellEvent('disconnected', undefined, reasonOf(ending));
		const kind = this.#outage.alertAt(now, slowLane);
		if (kind !== undefined) this.#tell(() => this.#listener.alert?.(failure, kind));
	}

	#cancelTimers(): void {
		this.#cancelTimer();
		this.#cancelStableTimer();
	}

	#tellEvent(event: ConnectionEvent['event'], gapMs: number | undefined, reason: string | undefined): void {
		const { sessionId } = this.#settings;
		const told = { sessionId, event, at: this.#now(), gapMs: gapMs ?? null, reason: reason ?? null };
		this.#tell(() => this.#listener.event?.(told));
	}

	/** The listener may close this connection, and nothing it throws may end the channel. */
	#tell(call: () => void): void {
		if (this.#state === 'closed') return;
		try {
			call();
		} catch (error) {
			// By its name only: the text may quote a message.
			this.#log('warn', `a listener failed with ${error instanceof Error ? error.name : typeof error}`);
		}
	}

	#log(level: 'debug' | 'info' | 'warn', text: string): void {
		this.#environment.log[level](`Session channel ${this.#settings.sessionId}: ${text}`);
	}

	#now(): string {
		return new Date(this.#environment.clock.wallMilliseconds()).toISOString();
	}
}
