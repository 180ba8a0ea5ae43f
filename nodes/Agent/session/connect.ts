import { systemClock } from './clock';
import type {
	Connection,
	ConnectionEnvironment,
	ConnectionListener,
	ConnectionOptions,
	ReadIdentity,
	SessionSettings,
} from './connection';
import { SessionConnection } from './sessionConnection';
import type { OpenSocket } from './transport';

/**
 * Keeps the channel of one session open, channel after channel, until `close()`. The first attempt starts by itself,
 * after this call has returned.
 */
export function connect(
	options: ConnectionOptions,
	readIdentity: ReadIdentity,
	listener: ConnectionListener,
	environment: Partial<ConnectionEnvironment> = {},
): Connection {
	return new SessionConnection(settingsOf(options), readIdentity, listener, {
		...realEnvironment,
		...environment,
	});
}

const realEnvironment: ConnectionEnvironment = {
	clock: systemClock,
	random: Math.random,
	loadSocket,
	gate: {
		pass: (call) => {
			call();
			return () => {};
		},
	},
	log: { debug() {}, info() {}, warn() {} },
};

let loaded: Promise<OpenSocket> | undefined;

/**
 * In a file of its own: the build loads it, and the WebSocket library, at first use. Kept from then on: what is published goes on with
 * this code when the package is updated, and by then the file is gone.
 */
function loadSocket(): Promise<OpenSocket> {
	loaded ??= import('./webSocket').then(
		({ openSocket }) => openSocket,
		(error: unknown) => {
			loaded = undefined;
			throw error;
		},
	);
	return loaded;
}

function settingsOf(options: ConnectionOptions): SessionSettings {
	return {
		sessionId: options.sessionId,
		messageFormat: options.messageFormat ?? 'auto',
		channel: {
			maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
			heartbeatMilliseconds: (options.heartbeatSeconds ?? 25) * 1000,
			pingText: options.pingText ?? '',
			initialMessage: options.initialMessage ?? '',
		},
		policy: {
			maxDelayMilliseconds: (options.reconnectMaxDelaySeconds ?? 60) * 1000,
			finalCloseCodes: options.finalCloseCodes ?? [],
		},
	};
}
