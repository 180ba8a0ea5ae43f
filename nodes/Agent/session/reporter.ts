import type { Failure } from '../../core/failure';
import type { ConnectionEnvironment, ConnectionEvent, ConnectionListener, EndedChannel } from './connection';
import type { SessionFrame } from './messages';

/** Tells the listener and the log of one connection; the listener nothing more after `stop()`. */
export class Reporter {
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

	alert(failure: Failure, kind: 'refused' | 'outage'): void {
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
