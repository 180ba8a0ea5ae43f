import type { Clock } from '../../core/clock';

export interface HeartbeatSettings {
	/** The time between two pings. 0 turns the pings off. */
	readonly heartbeatSeconds: number;
	/** If not empty, this text message is sent instead of a WebSocket ping. */
	readonly pingText: string;
}

/**
 * How long the response to a ping may take. With less than 10 s, a busy server or a busy n8n would
 * look dead.
 */
const pingTimeoutMilliseconds = 20_000;

export type Heartbeat = ReturnType<typeof createHeartbeat>;

/**
 * Finds out by pings whether a silent server is dead. Any frame proves that it is not. With a ping
 * every 25 s, this takes at most 45 s.
 * @param reportDead called if the server sent nothing between a ping and its deadline. Not called
 * if the server has never responded to a ping
 */
export function createHeartbeat(
	{ heartbeatSeconds, pingText }: HeartbeatSettings,
	clock: Clock,
	sendPing: () => void,
	reportDead: (silentMilliseconds: number) => void,
) {
	/**
	 * The frame that proves that the server responds to pings. It is a message if the pings are
	 * text messages.
	 */
	const responseKind = pingText === '' ? 'pong' : 'message';
	let cancelPing = () => {};
	/**
	 * Cancels the deadline of the oldest ping without a response. Undefined if no ping awaits one.
	 */
	let cancelDeadline: (() => void) | undefined;
	let lastFrameAt = 0;
	/** A server that never responds to pings may be alive, although it misses the deadline. */
	let hasResponded = false;

	function ping(): void {
		cancelDeadline ??= clock.callAfter(pingTimeoutMilliseconds, () => {
			cancelDeadline = undefined;
			if (!hasResponded) return;
			stop();
			reportDead(clock.getMonotonicMilliseconds() - lastFrameAt);
		});
		schedulePing();
		sendPing();
	}

	function schedulePing(): void {
		cancelPing = clock.callAfter(heartbeatSeconds * 1000, ping);
	}

	function endDeadline(): void {
		cancelDeadline?.();
		cancelDeadline = undefined;
	}

	/**
	 * Starts the pings, for a new channel or after `stop()`. The first WebSocket ping is sent at
	 * once.
	 */
	function start(): void {
		lastFrameAt = clock.getMonotonicMilliseconds();
		if (heartbeatSeconds === 0) return;
		// The first text ping is sent later, because the server may not expect it as the first
		// message.
		if (responseKind === 'pong') ping();
		else schedulePing();
	}

	/**
	 * Stops the pings, for example because no response can be seen while the socket is not read.
	 */
	function stop(): void {
		cancelPing();
		endDeadline();
	}

	/**
	 * Stops the pings, and forgets whether they were answered, because another server may be behind
	 * the next channel. Whoever enters a text ping knows that it is answered.
	 */
	function reset(): void {
		stop();
		if (responseKind === 'pong') hasResponded = false;
	}

	function recordFrame(kind: 'ping' | 'pong' | 'message'): void {
		lastFrameAt = clock.getMonotonicMilliseconds();
		// A pong is always a response, but a message only if it arrives after a text ping.
		if (kind === responseKind && (kind === 'pong' || cancelDeadline)) hasResponded = true;
		endDeadline();
	}

	return { start, stop, reset, recordFrame };
}
