import type { UpgradeAnswer } from '../../../nodes/Agent/session/closeReason';
import {
	openSocket,
	type Socket,
	type SocketListener,
	type SocketRequest,
} from '../../../nodes/Agent/session/webSocket';

/** Records everything that a real socket reports, and has promises for it. */
export class Tap {
	readonly messages: { text: string; isBinary: boolean }[] = [];
	readonly controls: string[] = [];
	readonly errors: (Error & { code?: string })[] = [];
	answer: UpgradeAnswer | undefined;
	endings: { code: number; reason: string }[] = [];
	readonly opened: Promise<void>;
	readonly closed: Promise<void>;
	/** Called for each message instead of recording it. */
	onMessage: (() => void) | undefined;
	readonly socket: Socket;

	constructor(url: string, request: Partial<SocketRequest> = {}) {
		let tellOpened = () => {};
		let tellClosed = () => {};
		this.opened = new Promise((resolve) => (tellOpened = resolve));
		this.closed = new Promise((resolve) => (tellClosed = resolve));
		const listener: SocketListener = {
			opened: tellOpened,
			message: (data, isBinary) => {
				if (this.onMessage) this.onMessage();
				else this.messages.push({ text: data.toString('latin1'), isBinary });
			},
			control: (kind) => this.controls.push(kind),
			refused: (answer) => (this.answer = answer),
			failed: (error) => this.errors.push(error),
			closed: (code, reason) => {
				this.endings.push({ code, reason });
				tellClosed();
			},
		};
		const usual = {
			handshakeTimeoutMilliseconds: 5000,
			maxMessageBytes: 1024 * 1024,
			allowUnauthorizedCerts: false,
		};
		this.socket = openSocket({ url, ...usual, ...request }, listener);
	}
}

/** Waits until a condition holds; only the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
