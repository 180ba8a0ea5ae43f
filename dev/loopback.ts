import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
	/** Address without a path and a trailing slash. */
	readonly url: string;
	/** Ends every connection, idle or not. */
	close(): Promise<void>;
}

/** Lets a server listen where only this machine reaches it. @param port 0 means any free one */
export async function onLoopback(server: Server, port = 0): Promise<Listening> {
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}
