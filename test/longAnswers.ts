import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const piece = Buffer.alloc(1024 * 1024, ' ');

/** A server whose every answer is very long, but ends some time, so that a test of who reads it all ends too. */
export class LongAnswers {
	static readonly mebibytes = 200;
	/** Bytes that were taken from it, about. */
	sent = 0;
	readonly #server = createServer((_request, response) => {
		let left = LongAnswers.mebibytes;
		const more = () => {
			while (left-- > 0 && !response.destroyed) {
				this.sent += piece.length;
				if (!response.write(piece)) return;
			}
			response.end();
		};
		response.on('drain', more).setHeader('Content-Type', 'application/json');
		more();
	});

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	async listen(): Promise<void> {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
	}

	async close(): Promise<void> {
		this.#server.closeAllConnections();
		this.#server.close();
		await once(this.#server, 'close');
	}
}
