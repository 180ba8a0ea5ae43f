import type { Clock } from '../../core/clock';

export interface HeartbeatSettings {
	/** The time between two pings. 0 turns the pings off. */
	readonly heartbeatSeconds: number;
	/** If not empty, this text message is sent instead of a WebSocket ping. */
	readonly pingText: string;
}

interface HeartbeatActions {
	sendPing(): void;
	/** Called if the server sent nothing between a ping and its deadline. Not called if the server has never responded to a ping. */
	reportDead(silentMilliseconds: number): void;
}

/** How long the response to a ping may take. With less than 10 s, a busy server or a busy n8n would look dead. */
const pingTimeoutMilliseconds = 20_000;

/** Finds out by pings whether a silent server is dead. Any frame proves that it is not. With a ping every 25 s, this takes at most 45 s. */
export class Heartbeat {
	readonly #intervalMilliseconds: number;
	/** The frame that proves that the server responds to pings. It is a message if the pings are text messages. */
	readonly #responseKind: 'pong' | 'message';
	readonly #actions: HeartbeatActions;
	readonly #clock: Clock;
	#cancelPing = () => {};
	/** Cancels the deadline of the oldest ping without a response. Undefined if no ping awaits one. */
	#cancelDeadline: (() => void) | undefined;
	#lastFrameAt = 0;
	/** A server that never responds to pings may be alive, although it misses the deadline. */
	#hasResponded = false;

	constructor(
		{ heartbeatSeconds, pingText }: HeartbeatSettings,
		actions: HeartbeatActions,
		clock: Clock,
	) {
		this.#intervalMilliseconds = heartbeatSeconds * 1000;
		this.#responseKind = pingText === '' ? 'pong' : 'message';
		this.#actions = actions;
		this.#clock = clock;
	}

	/** Starts the pings, for a new channel or after `stop()`. The first WebSocket ping is sent at once. */
	start(): void {
		this.#lastFrameAt = this.#clock.getMonotonicMilliseconds();
		if (this.#intervalMilliseconds === 0) return;
		// The first text ping is sent later, because the server may not expect it as the first message.
		if (this.#responseKind === 'pong') this.#ping();
		else this.#schedulePing();
	}

	/** Stops the pings, for example because no response can be seen while the socket is not read. */
	stop(): void {
		this.#cancelPing();
		this.#endDeadline();
	}

	recordFrame(kind: 'ping' | 'pong' | 'message'): void {
		this.#lastFrameAt = this.#clock.getMonotonicMilliseconds();
		// Any message that arrives after a text ping counts as its response.
		if (kind === this.#responseKind && this.#cancelDeadline) this.#hasResponded = true;
		this.#endDeadline();
	}

	#schedulePing(): void {
		this.#cancelPing = this.#clock.callAfter(this.#intervalMilliseconds, () => {
			this.#ping();
		});
	}

	#ping(): void {
		this.#cancelDeadline ??= this.#clock.callAfter(pingTimeoutMilliseconds, () => {
			this.#cancelDeadline = undefined;
			const silentMilliseconds = this.#clock.getMonotonicMilliseconds() - this.#lastFrameAt;
			if (!this.#hasResponded) return;
			this.stop();
			this.#actions.reportDead(silentMilliseconds);
		});
		this.#schedulePing();
		this.#actions.sendPing();
	}

	#endDeadline(): void {
		this.#cancelDeadline?.();
		this.#cancelDeadline = undefined;
	}
}
