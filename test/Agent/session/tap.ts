import type { UpgradeResponse } from '../../../nodes/Agent/session/closeReason';
import {
	openSocket,
	type ChannelSocket,
	type SocketListener,
	type SocketRequest,
} from '../../../nodes/Agent/session/webSocket';

/** Records everything that a real socket reports, and has promises for it. */
export class Tap {
	readonly messages: { text: string; isBinary: boolean }[] = [];
	readonly controls: string[] = [];
	readonly errors: (Error & { code?: string })[] = [];
	answer: UpgradeResponse | undefined;
	endings: { code: number; reason: string }[] = [];
	readonly opened: Promise<void>;
	readonly closed: Promise<void>;
	/** Called for each message instead of recording it. */
	onMessage: (() => void) | undefined;
	readonly socket: ChannelSocket;

	constructor(url: string, request: Partial<SocketRequest> = {}) {
		let tellOpened = () => {};
		let tellClosed = () => {};
		this.opened = new Promise((resolve) => (tellOpened = resolve));
		this.closed = new Promise((resolve) => (tellClosed = resolve));
		const listener: SocketListener = {
			onOpen: tellOpened,
			onFrame: (data, isBinary) => {
				if (this.onMessage) this.onMessage();
				else this.messages.push({ text: data.toString('latin1'), isBinary });
			},
			onControlFrame: (kind) => this.controls.push(kind),
			onUnexpectedResponse: (answer) => (this.answer = answer),
			onError: (error) => this.errors.push(error),
			onClose: (code, reason) => {
				this.endings.push({ code, reason });
				tellClosed();
			},
		};
		this.socket = openSocket({ url, allowUnauthorizedCerts: false, ...request }, listener);
	}
}

/** Waits until a condition holds; only the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
