import type { Socket } from 'node:net';

/** What happens to the bytes of a link, in either direction. */
export type Weather =
	| { readonly kind: 'fair' }
	/** Nothing passes, and neither side is told: packets are lost forever. */
	| { readonly kind: 'blackHole' }
	/** Bytes arrive later, but in order. */
	| { readonly kind: 'delay'; readonly milliseconds: number; readonly jitterMilliseconds: number }
	/** Bytes pass one at a time. */
	| { readonly kind: 'trickle'; readonly milliseconds: number }
	/** Nothing is read, so the sender sees backpressure. */
	| { readonly kind: 'stall' };

/** One connection through the proxy. */
export class Link {
	readonly client: Socket;
	readonly server: Socket;
	/** Bytes that may still reach the client before the cut. */
	#cutAfter = Number.POSITIVE_INFINITY;
	#dueAt = 0;
	#weather: Weather = { kind: 'fair' };
	readonly #queue: { readonly dueAt: number; readonly pass: () => void }[] = [];
	#timer: NodeJS.Timeout | undefined;

	constructor(client: Socket, server: Socket, weather: Weather) {
		this.client = client;
		this.server = server;
		this.#pump(client, server, false);
		this.#pump(server, client, true);
		for (const socket of [client, server]) {
			socket.on('error', () => {
				this.destroy();
			});
			socket.on('close', () => {
				this.destroy();
			});
		}
		this.weather = weather;
	}

	set weather(weather: Weather) {
		this.#weather = weather;
		for (const socket of [this.client, this.server]) {
			if (weather.kind === 'stall') socket.pause();
			else socket.resume();
		}
		// A peer that left while nothing passed is noticed only now.
		if (this.client.destroyed || this.server.destroyed) this.destroy();
	}

	/** Cuts the link in the middle of the next data for the client. */
	cutAfter(bytes: number): void {
		this.#cutAfter = bytes;
	}

	/** Sends RST to both sides. */
	reset(): void {
		this.client.resetAndDestroy();
		this.server.resetAndDestroy();
	}

	/** Sends FIN to the client, whose own bytes still pass. */
	halfClose(): void {
		this.client.end();
	}

	destroy(): void {
		clearTimeout(this.#timer);
		this.#queue.length = 0;
		// In a black hole, neither side learns that the other is gone.
		if (this.#weather.kind === 'blackHole') return;
		this.client.destroy();
		this.server.destroy();
	}

	forget(): void {
		this.#weather = { kind: 'fair' };
		this.destroy();
	}

	#pump(from: Socket, to: Socket, toClient: boolean): void {
		from.on('data', (chunk: Buffer) => {
			const pieces =
				this.#weather.kind === 'trickle'
					? [...chunk].map((byte) => Buffer.of(byte))
					: [chunk];
			for (const piece of pieces) {
				this.#later(() => {
					this.#write(to, piece, toClient);
				});
			}
		});
		from.on('end', () => {
			this.#later(() => to.end());
		});
	}

	/** Passes data with the delay of the weather, and never before earlier data. */
	#later(pass: () => void): void {
		const weather = this.#weather;
		if (weather.kind === 'blackHole') return;
		const now = performance.now();
		if (weather.kind === 'delay') {
			const delay = weather.milliseconds + Math.random() * weather.jitterMilliseconds;
			this.#dueAt = Math.max(this.#dueAt, now + delay);
		}
		if (weather.kind === 'trickle')
			this.#dueAt = Math.max(this.#dueAt, now) + weather.milliseconds;
		this.#queue.push({ dueAt: this.#dueAt, pass });
		if (this.#queue.length === 1) this.#passDue();
	}

	#passDue(): void {
		for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
			const wait = next.dueAt - performance.now();
			if (wait > 0) {
				this.#timer = setTimeout(() => {
					this.#passDue();
				}, wait);
				return;
			}
			this.#queue.shift();
			next.pass();
		}
	}

	#write(to: Socket, chunk: Buffer, toClient: boolean): void {
		if (to.destroyed || to.writableEnded || this.#weather.kind === 'blackHole') return;
		if (!toClient || chunk.length < this.#cutAfter) {
			to.write(chunk);
			this.#cutAfter -= toClient ? chunk.length : 0;
			return;
		}
		to.write(chunk.subarray(0, this.#cutAfter), () => {
			this.reset();
		});
	}
}
