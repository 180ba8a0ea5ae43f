import type { Failure } from '../../core/failure';
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
import { failureOf, reasonOf } from './errors';
import type { Ending } from './closeReason';
import { Intake } from './intake';
import { Preparation, type Prepared } from './preparation';
import { Recovery, type Recovering } from './recovery';
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
	readonly #recovery: Recovery;
	#state: ConnectionState = 'idle';
	#attempt = 0;
	#attemptsSinceOpen = 0;
	#channel: Channel | undefined;
	/** The wait for the next attempt, or the limit of the one that is being prepared. */
	#cancelTimer = () => {};
	#leaveGate = () => {};
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
		this.#recovery = new Recovery(settings.policy, environment.clock, environment.random);
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
		const { clock, gate } = this.#environment;
		this.#cancelTimer = clock.after(delayMilliseconds, () => {
			this.#leaveGate = gate.pass(() => {
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
			const prepared = await this.#preparation.make();
			if (attempt !== this.#attempt) return;
			this.#cancelTimer();
			this.#openChannel(prepared);
		} catch (error) {
			if (attempt !== this.#attempt) return;
			this.#ended(this.#preparation.explain(error));
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
			answered: () => {
				this.#reporter.answered();
			},
			ended: (ending: Ending, silentMilliseconds: number) => {
				this.#ended(ending, silentMilliseconds);
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
		const gap = this.#intake.gap.reopened(this.#environment.clock.monotonicMilliseconds());
		this.#reporter.opened(gap);
	}

	#received(data: Buffer, isBinary: boolean): void {
		this.#recovery.received();
		this.#reporter.message(this.#intake.take(data, isBinary, this.#reporter.now()));
	}

	#ended(ending: Ending, silentMilliseconds = 0): void {
		const { clock } = this.#environment;
		const opened = this.#state === 'open' || this.#state === 'paused';
		this.#attempt++;
		this.#cancelTimers();
		if (opened) {
			this.#intake.gap.lost(clock.monotonicMilliseconds() - silentMilliseconds, reasonOf(ending));
		}
		const next = this.#recovery.ended(ending);
		this.#lastFailure = failureOf(ending, {
			sessionId: this.#settings.sessionId,
			host: this.#host,
			opened,
			nowMilliseconds: clock.wallMilliseconds(),
		});
		this.#state = next.slowLane ? 'slow' : 'backoff';
		this.#schedule(next.delayMilliseconds);
		this.#report(next, {
			ending,
			opened,
			verdict: next.verdict,
			failure: this.#lastFailure,
			retryInMilliseconds: next.delayMilliseconds,
			slowLane: next.slowLane,
		});
	}

	/** Last of all, because the listener may close this connection. */
	#report({ isFirst, alert }: Recovering, channel: EndedChannel): void {
		const reason = reasonOf(channel.ending);
		const seconds = Math.ceil(channel.retryInMilliseconds / 1000);
		this.#reporter.log(isFirst ? 'warn' : 'debug', `${reason}; next attempt in ${seconds} s`);
		this.#reporter.ended(channel, reason);
		if (alert !== undefined) this.#reporter.alert(channel.failure, alert);
	}

	#cancelTimers(): void {
		this.#cancelTimer();
		this.#leaveGate();
		this.#recovery.stop();
	}
}
