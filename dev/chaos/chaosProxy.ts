import net, { type AddressInfo, type Socket } from 'node:net';

import { Link, type Weather } from './link.ts';

/** What happens to a connection when it arrives. */
export type Arrival = 'connect' | 'reset' | 'hold';

/** A TCP proxy in this process whose links suffer what a test wants them to. */
export class ChaosProxy {
	/** Connections that ever arrived. */
	arrivals = 0;
	onArrival: Arrival = 'connect';
	/** Of links to come. */
	weather: Weather = { kind: 'fair' };
	readonly #server: net.Server;
	readonly #target: () => number;
	readonly #links = new Set<Link>();
	readonly #held = new Set<Socket>();

	/** @param target port on this machine, asked again for each connection */
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

	/** Does something to every link there is. */
	each(change: (link: Link) => void): void {
		for (const link of this.#links) change(link);
	}

	/** The weather of the links that are, and of those to come. */
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
		const server = net.connect({ port: this.#target(), host: '127.0.0.1', allowHalfOpen: true });
		const link = new Link(client, server, this.weather);
		this.#links.add(link);
		const gone = () => {
			if (client.destroyed && server.destroyed) this.#links.delete(link);
		};
		client.on('close', gone);
		server.on('close', gone);
	}
}
