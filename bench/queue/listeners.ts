import { createRequire } from 'node:module';
import path from 'node:path';

import { getN8nFolder } from '../../dev/n8n/installN8n.ts';
import { pause } from '../n8n.ts';

/** As much of a client as is needed to publish to the channels of n8n's own Redis Trigger. */
export interface Redis {
	/** @returns number of subscribers that got the message */
	publish(channel: string, message: string): Promise<number>;
	/** Number of pattern subscriptions; each running Redis Trigger holds one. */
	pubsub(subcommand: 'NUMPAT'): Promise<number>;
	disconnect(): void;
}

/** Connects with the client that n8n brings. */
export function connectRedis(port: number): Redis {
	const require = createRequire(path.join(getN8nFolder(), 'package.json'));
	const { Redis } = require('ioredis') as { Redis: new (port: number, host: string) => Redis };
	return new Redis(port, '127.0.0.1');
}

const watchMilliseconds = 20;

/**
 * Adds up the seconds in which nobody listens, by name of the listener.
 * @param listeners how many listen now
 * @returns a function that ends the watch and gives the seconds
 */
export function watchGaps<Name extends string>(
	listeners: Readonly<Record<Name, () => number | Promise<number>>>,
): () => Promise<Record<Name, number>> {
	const names = Object.keys(listeners) as Name[];
	const seconds = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
	const watch = { isOver: false };
	const watching = (async () => {
		let last = performance.now();
		while (!watch.isOver) {
			await pause(watchMilliseconds);
			const now = performance.now();
			for (const name of names) if ((await listeners[name]()) === 0) seconds[name] += (now - last) / 1000;
			last = now;
		}
		return seconds;
	})();
	return async () => {
		watch.isOver = true;
		return await watching;
	};
}
