import { Sanitizer } from '../../../nodes/core/sanitizer';
import { type CloseReason, convertNetworkError } from '../../../nodes/Agent/session/closeReason';
import type {
	SocketOpener,
	ChannelSocket,
	SocketListener,
	SocketRequest,
} from '../../../nodes/Agent/session/webSocket';

/** The reason that a network error with the code is. */
export const networkReason = (code: string | undefined, message = ''): CloseReason =>
	convertNetworkError(Object.assign(new Error(message), { code }), new Sanitizer());

/** A socket for which the test plays the server. Its events come asynchronously, as with a real one. */
export class FakeSocket implements ChannelSocket {
	readonly request: SocketRequest;
	readonly listener: SocketListener;
	readonly sent: string[] = [];
	pings = 0;
	/** The server's answer to a ping; replaced by the test. */
	onPing = () => {};
	state: 'connecting' | 'open' | 'closing' | 'gone' = 'connecting';
	paused = false;
	closeCode: number | undefined;
	terminated = false;
	/** Whether the server answers a close frame. */
	answersClose = true;

	constructor(request: SocketRequest, listener: SocketListener) {
		this.request = request;
		this.listener = listener;
	}

	open(): void {
		this.state = 'open';
		this.listener.onOpen();
	}

	text(text: string): void {
		this.listener.onFrame(Buffer.from(text), false);
	}

	/** Ends the connection. */
	end(code = 1006, reason = ''): void {
		const closeFrame = { kind: 'closeFrame', code, reason } as const;
		this.endWith(code === 1006 ? { kind: 'dropped' } : closeFrame);
	}

	endWith(closeReason: CloseReason): void {
		if (this.state === 'gone') return;
		this.state = 'gone';
		this.listener.onClose(closeReason);
	}

	/** Answers the upgrade with a status. */
	refuse(statusCode: number, retryAfterMilliseconds?: number, body = ''): void {
		const response = { statusCode, retryAfterMilliseconds, body };
		this.endWith({ kind: 'response', response });
	}

	fail(code: string, message = code): void {
		this.endWith(networkReason(code, message));
	}

	get readyState(): 0 | 1 | 2 | 3 {
		return ({ connecting: 0, open: 1, closing: 2, gone: 3 } as const)[this.state];
	}

	get query(): URLSearchParams {
		return new URL(this.request.url).searchParams;
	}

	send(text: string): void {
		this.sent.push(text);
	}

	ping(): void {
		this.pings++;
		this.onPing();
	}

	pause(): void {
		this.paused = true;
	}

	resume(): void {
		this.paused = false;
	}

	close(code: number): void {
		this.closeCode = code;
		this.state = 'closing';
		if (this.answersClose) {
			setImmediate(() => {
				this.end(code);
			});
		}
	}

	terminate(): void {
		this.terminated = true;
		setImmediate(() => {
			this.end();
		});
	}
}

/** Hands out fake sockets and remembers them. */
export class FakeNetwork {
	readonly sockets: FakeSocket[] = [];
	/** What the network does with each new socket. */
	onSocket: (socket: FakeSocket) => void = () => {};

	readonly loadSocketOpener = async (): Promise<SocketOpener> => {
		await Promise.resolve();
		return (request, listener) => {
			const socket = new FakeSocket(request, listener);
			this.sockets.push(socket);
			queueMicrotask(() => {
				this.onSocket(socket);
			});
			return socket;
		};
	};

	get last(): FakeSocket {
		const socket = this.sockets.at(-1);
		if (socket === undefined) throw new Error('no socket was opened');
		return socket;
	}

	/** Sockets that have not ended. */
	get live(): number {
		return this.sockets.filter(({ state }) => state !== 'gone').length;
	}
}
