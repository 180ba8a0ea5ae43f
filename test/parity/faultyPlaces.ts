import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import net, { type AddressInfo, type Server, type Socket, type SocketConnectOpts } from 'node:net';
import path from 'node:path';
import tls from 'node:tls';

/** Where a service should be. */
export interface Place {
	readonly url: string;
	/** Requests that have come, or connections where none could. */
	attempts(): number;
	close(): Promise<void>;
}

/** An address of the documentation's network (RFC 5737); nothing is ever sent to it here. */
const nowhere = '192.0.2.1';

/** Makes the system report an error in place of a connection, because a real one would need a broken network. */
export function systemError(code: string, syscall = 'connect'): () => Promise<Place> {
	return () => {
		const place = watched(nowhere, (socket, port) => {
			const failure = Object.assign(new Error(`${syscall} ${code} ${nowhere}:${port}`), {
				code,
				syscall,
			});
			const more = syscall === 'connect' ? { address: nowhere, port } : { hostname: nowhere };
			process.nextTick(() => socket.destroy(Object.assign(failure, more)));
			return true;
		});
		return Promise.resolve({ ...place, url: `http://${nowhere}:8080` });
	};
}

/** Uses a name longer than any may be, so that the resolver asks no other machine. */
export function unknownName(): Promise<Place> {
	const name = `${'a'.repeat(64)}.invalid`;
	return Promise.resolve({ ...watched(name), url: `http://${name}` });
}

/** Uses a port that was free a moment ago, so that nobody listens on it. */
export async function closedPort(): Promise<Place> {
	const server = net.createServer();
	const port = await listening(server);
	server.close();
	await once(server, 'close');
	return { ...watched('127.0.0.1', undefined, port), url: `http://127.0.0.1:${port}` };
}

/** Counts the connections to a host, which go through unless `instead` takes them. */
function watched(
	host: string,
	instead: (socket: Socket, port: number) => boolean = () => false,
	onlyPort?: number,
): Pick<Place, 'attempts' | 'close'> {
	let attempts = 0;
	const connect = Reflect.get(net.Socket.prototype, 'connect') as (...given: unknown[]) => Socket;
	const spy = jest.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
		this: Socket,
		...given: unknown[]
	) {
		const [first] = given;
		const options = (
			Array.isArray(first) ? (first as unknown[])[0] : first
		) as SocketConnectOpts;
		const { host: asked, port } = options as { host?: string; port?: number | string };
		const isOurs = asked === host && (onlyPort === undefined || Number(port) === onlyPort);
		if (isOurs) attempts++;
		return isOurs && instead(this, Number(port)) ? this : connect.apply(this, given);
	});
	return {
		attempts: () => attempts,
		close: () => {
			spy.mockRestore();
			return Promise.resolve();
		},
	};
}

async function listening(server: Server): Promise<number> {
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

/** A server for connections, called over `scheme`. */
export function raw(serve: (socket: Socket) => void, scheme = 'http'): () => Promise<Place> {
	return () => placeOf(net.createServer(serve), scheme);
}

/** Starts a server whose certificate nobody trusts. */
export function withCertificate(): Promise<Place> {
	const folder = path.resolve('dev/agent-service/certificate');
	const read = (name: string) => readFileSync(path.join(folder, `test-only.${name}.pem`), 'utf8');
	return placeOf(tls.createServer({ key: read('key'), cert: read('cert') }), 'https');
}

/** Makes a place of a server and counts its connections as attempts. */
async function placeOf(server: Server, scheme: string): Promise<Place> {
	let attempts = 0;
	const open = new Set<Socket>();
	server.on('connection', (socket: Socket) => {
		attempts++;
		open.add(socket);
		socket.on('error', () => socket.destroy());
	});
	server.on('tlsClientError', () => undefined);
	const port = await listening(server);
	return {
		url: `${scheme}://127.0.0.1:${port}`,
		attempts: () => attempts,
		close: async () => {
			for (const socket of open) socket.destroy();
			server.close();
			await once(server, 'close');
		},
	};
}

export const reset = (socket: Socket) => {
	socket.resetAndDestroy();
};

/** A server for requests, and for upgrades, which it takes for requests. */
export function answering(answer: RequestListener): () => Promise<Place> {
	return async () => {
		let attempts = 0;
		const server = http.createServer((request, response) => {
			attempts++;
			request.resume().on('end', () => {
				answer(request, response);
			});
		});
		return { ...(await placeOf(server, 'http')), attempts: () => attempts };
	};
}

/** Starts a server that answers every request with a status. */
export function status(code: number, headers: Record<string, string> = {}): () => Promise<Place> {
	return answering((_request, response) => {
		response.writeHead(code, { 'content-type': 'application/json', ...headers });
		response.end('{}');
	});
}
