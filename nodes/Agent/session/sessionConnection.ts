import type { Failure } from '../../items/failure';
import { Channel } from './channel';
import type {
	Connection,
	ConnectionEnvironment,
	ConnectionListener,
	ConnectionState,
	ConnectionStatus,
	EndedChannel,
	ReadIdentity,
	SessionSettings,
} from './connection';
import { failureOf, reasonOf, retryAfterOf } from './explanation';
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
import { Reporter } from './reporter';

/** For reading the credentials: n8n's database may hang too. */
const preparationMilliseconds = 20_000;

/** Channel after channel of one session. Each attempt has a number; what belongs to an older one is dropped. */
export class SessionConnection implements Connection {
	readonly #settings: SessionSettings;
	readonly #preparation: Preparation;
	readonly #reporter: Reporter;
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
		this.#environment = environment;
		this.#preparation = new Preparation(settings.sessionId, readIdentity, environment.loadSocket);
		this.#reporter = new Reporter(settings.sessionId, listener, environment);
		this.#intake = new Intake(settings.sessionId, settings.messageFormat);
		this.#outage.begins(environment.clock.monotonicMilliseconds());
		this.#schedule(firstDelayMilliseconds(settings.policy, environment.random));
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

	close(takesLast = false): Promise<void> {
		this.#closing ??= this.#shut(takesLast);
		return this.#closing;
	}

	async #shut(takesLast: boolean): Promise<void> {
		this.#state = 'closed';
		if (!takesLast) this.#reporter.stop();
		this.#attempt++;
		this.#cancelTimers();
		await this.#channel?.close(takesLast);
		this.#reporter.stop();
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
			if (attempt !== this.#attempt) return;
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
				this.#reporter.log('info', 'the server does not answer pings; a dead link shows up late');
			},
		};
		const settings = { ...this.#settings.channel, ...address };
		this.#channel = new Channel(settings, listener, this.#environment.clock, openSocket);
	}

	#opened(): void {
		this.#state = this.#pauseWanted ? 'paused' : 'open';
		if (this.#pauseWanted) this.#channel?.pause();
		if (this.#attemptsSinceOpen > 1 || this.#lastFailure !== undefined)
			this.#reporter.log('info', 'open again');
		this.#attemptsSinceOpen = 0;
		this.#cancelStableTimer = this.#environment.clock.after(stableMilliseconds, () => {
			this.#memory = untroubled;
			this.#outage.ends();
		});
		const gap = this.#intake.gap.reopened(this.#environment.clock.monotonicMilliseconds());
		this.#reporter.opened(gap);
	}

	#received(data: Buffer, isBinary: boolean): void {
		this.#memory = afterMessage(this.#memory);
		this.#outage.pauses();
		this.#reporter.message(this.#intake.take(data, isBinary, this.#reporter.now()));
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
		this.#memory = next.memory;
		this.#lastFailure = failureOf(ending, { host: this.#host, nowMilliseconds: wall });
		this.#state = next.memory.slow ? 'slow' : 'backoff';
		this.#schedule(next.delayMilliseconds);
		this.#report({
			ending,
			opened,
			verdict: next.verdict,
			failure: this.#lastFailure,
			retryInMilliseconds: next.delayMilliseconds,
			slowLane: next.memory.slow,
		});
	}

	/** Last of all, because the listener may close this connection. */
	#report(channel: EndedChannel): void {
		const reason = reasonOf(channel.ending);
		const seconds = Math.ceil(channel.retryInMilliseconds / 1000);
		const level = this.#outage.isFirst() ? 'warn' : 'debug';
		const alert = this.#outage.alertAt(this.#environment.clock.monotonicMilliseconds(), channel.slowLane);
		this.#reporter.log(level, `${reason}; next attempt in ${seconds} s`);
		this.#reporter.ended(channel, reason);
		if (alert !== undefined) this.#reporter.alert(channel.failure, alert);
	}

	#cancelTimers(): void {
		this.#cancelTimer();
		this.#cancelStableTimer();
	}
}
