import net, { type AddressInfo, type Socket } from 'node:net';

import { Link, type Weather } from './link.ts';

/** What happens to a connection when it arrives. */
export type Arrival = 'connect' | 'reset' | 'hold';

/** A TCP proxy in this process whose links have the faults that a test asks for. */
export class ChaosProxy {
	/** Number of connections that arrived so far. */
	arrivals = 0;
	onArrival: Arrival = 'connect';
	/** Applied to future links. */
	weather: Weather = { kind: 'fair' };
	readonly #server: net.Server;
	readonly #target: () => number;
	readonly #links = new Set<Link>();
	readonly #held = new Set<Socket>();

	/** @param target returns the port on this machine; called for each connection */
	constructor(target: () => number) {
		this.#target = target;
		this.#server = net.createServer({ allowHalfOpen: true }, (client) => {
			this.#arrive(client);
		});
	}

	async listen(): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		return this;
	}

	get address(): string {
		return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** Applies a change to every existing link. */
	each(change: (link: Link) => void): void {
		for (const link of this.#links) change(link);
	}

	/** Sets the weather of existing and future links. */
	setWeather(weather: Weather): void {
		this.weather = weather;
		this.each((link) => (link.weather = weather));
	}

	async close(): Promise<void> {
		const closed = new Promise((resolve) => this.#server.close(resolve));
		this.each((link) => {
			link.forget();
		});
		for (const socket of this.#held) socket.destroy();
		await closed;
	}

	#arrive(client: Socket): void {
		this.arrivals++;
		client.on('error', () => client.destroy());
		if (this.onArrival === 'reset') client.resetAndDestroy();
		if (this.onArrival === 'hold') {
			this.#held.add(client);
			client.resume().on('end', () => client.end());
			client.on('close', () => this.#held.delete(client));
		}
		if (this.onArrival !== 'connect') return;
		const server = net.connect({
			port: this.#target(),
			host: '127.0.0.1',
			allowHalfOpen: true,
		});
		const link = new Link(client, server, this.weather);
		this.#links.add(link);
		const gone = () => {
			if (client.destroyed && server.destroyed) this.#links.delete(link);
		};
		client.on('close', gone);
		server.on('close', gone);
	}
}
