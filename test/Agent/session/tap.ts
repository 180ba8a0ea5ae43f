import { Sanitizer } from '../../../nodes/core/sanitizer';
import type { CloseReason, UpgradeResponse } from '../../../nodes/Agent/session/closeReason';
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
	readonly endings: CloseReason[] = [];
	readonly opened: Promise<void>;
	readonly closed: Promise<void>;
	readonly socket: ChannelSocket;

	constructor(url: string, request: Partial<SocketRequest> = {}) {
		let tellOpened = () => {};
		let tellClosed = () => {};
		this.opened = new Promise((resolve) => (tellOpened = resolve));
		this.closed = new Promise((resolve) => (tellClosed = resolve));
		const listener: SocketListener = {
			onOpen: tellOpened,
			onFrame: (data, isBinary) => {
				this.messages.push({ text: data.toString('latin1'), isBinary });
			},
			onControlFrame: (kind) => this.controls.push(kind),
			onClose: (closeReason) => {
				this.endings.push(closeReason);
				tellClosed();
			},
		};
		const standard = { allowUnauthorizedCerts: false, egress: undefined };
		this.socket = openSocket(
			{ url, sanitizer: new Sanitizer(), ...standard, ...request },
			listener,
		);
	}

	/** The answer with which the upgrade was refused. */
	get answer(): UpgradeResponse | undefined {
		const [ending] = this.endings;
		return ending?.kind === 'response' ? ending.response : undefined;
	}
}

/** Waits until a condition holds; only the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
