import { connect, type Socket } from 'node:net';

interface Waiting {
	readonly resolve: (value: number) => void;
	readonly reject: (error: Error) => void;
}

/** Publishes to the channels of n8n's own Redis Trigger, and counts who listens. */
export class RedisPublisher {
	readonly #socket: Socket;
	readonly #waiting: Waiting[] = [];
	#received = '';

	static async connect(port: number): Promise<RedisPublisher> {
		const socket = connect(port, '127.0.0.1');
		await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
		return new RedisPublisher(socket);
	}

	private constructor(socket: Socket) {
		this.#socket = socket;
		socket.setEncoding('utf8').on('data', (data) => {
			this.#take(String(data));
		});
		socket.on('error', (error) => {
			for (const one of this.#waiting.splice(0)) one.reject(error);
		});
	}

	/** @returns number of subscribers that got the message */
	async publish(channel: string, message: object): Promise<number> {
		return await this.#command('PUBLISH', channel, JSON.stringify(message));
	}

	/** Number of pattern subscriptions; each running Redis Trigger holds one. */
	async subscriptions(): Promise<number> {
		return await this.#command('PUBSUB', 'NUMPAT');
	}

	close(): void {
		this.#socket.destroy();
	}

	/** Only for commands whose reply is an integer. */
	async #command(...words: string[]): Promise<number> {
		const told = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
		return await new Promise<number>((resolve, reject) => {
			this.#waiting.push({ resolve, reject });
			this.#socket.write(`*${words.length}\r\n${told.join('')}`);
		});
	}

	#take(data: string): void {
		const lines = (this.#received + data).split('\r\n');
		this.#received = lines.pop() ?? '';
		for (const line of lines) {
			const waiting = this.#waiting.shift();
			if (line.startsWith(':')) waiting?.resolve(Number(line.slice(1)));
			else waiting?.reject(new Error(`Redis answered ${line}`));
		}
	}
}
