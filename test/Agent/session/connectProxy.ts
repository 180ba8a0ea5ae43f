import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy that tunnels, refuses with a status, ends or resets the connection, or never answers. */
export class ConnectProxy {
	/** What it was asked for, as host:port. */
	readonly asked: string[] = [];
	readonly authorizations: (string | undefined)[] = [];
	behaviour: 'tunnel' | 'stall' | 'end' | 'reset' | number = 'tunnel';
	readonly #server: http.Server;
	readonly #sockets = new Set<Socket>();
	readonly #scheme: string;

	constructor(certificate?: https.ServerOptions) {
		this.#scheme = certificate ? 'https' : 'http';
		this.#server = certificate ? https.createServer(certificate) : http.createServer();
		this.#server.on('connection', (socket: Socket) => {
			this.#sockets.add(socket);
			socket.on('close', () => this.#sockets.delete(socket));
			socket.on('error', () => socket.destroy());
		});
		// What is no tunnel is refused.
		this.#server.on('request', (_request, response) => {
			response.writeHead(typeof this.behaviour === 'number' ? this.behaviour : 405).end();
		});
		this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
			this.#answer(request, socket);
		});
	}

	/** @param port 0 means any free one */
	async listen(port = 0): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
		return this;
	}

	/** Connections that clients hold. */
	get connections(): number {
		return this.#sockets.size;
	}

	address(credentials = ''): string {
		const { port } = this.#server.address() as AddressInfo;
		return `${this.#scheme}://${credentials}127.0.0.1:${port}`;
	}

	async close(): Promise<void> {
		const closed = new Promise((resolve) => this.#server.close(resolve));
		for (const socket of this.#sockets) socket.destroy();
		await closed;
	}

	#answer({ url = '', headers }: IncomingMessage, socket: Socket): void {
		this.asked.push(url);
		this.authorizations.push(headers['proxy-authorization']);
		if (this.behaviour === 'stall') {
			socket.resume().on('end', () => socket.end());
			return;
		}
		if (this.behaviour === 'reset') socket.resetAndDestroy();
		if (this.behaviour === 'end') socket.end();
		if (typeof this.behaviour === 'number') {
			socket.end(`HTTP/1.1 ${this.behaviour} No\r\nContent-Length: 0\r\n\r\n`);
			return;
		}
		if (this.behaviour !== 'tunnel') return;
		const { hostname, port } = new URL(`http://${url}`);
		// Names of the test all mean this machine.
		const upstream = connect(
			Number(port || 80),
			hostname === 'agent.test' ? '127.0.0.1' : hostname,
			() => {
				socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
				socket.pipe(upstream).pipe(socket);
			},
		);
		upstream.on('error', () => socket.destroy());
		socket.on('close', () => upstream.destroy());
	}
}
