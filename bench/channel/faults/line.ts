import type { UpgradeStep } from '../../../dev/agent-service/script.ts';
import type { AgentService } from '../../../dev/agent-service/server.ts';
import { ChaosProxy } from '../../../dev/chaos/chaosProxy.ts';
import type { Stored } from '../station.ts';

/**
 * How a server handles the messages of a session. `waits`: sends each message once, and only while there is a
 * channel. `streams`: the same, but many messages per second, which the workflow receives in batches.
 * `repeats`: sends its latest messages again on every new channel; the workflow recognizes a message by its
 * ID.
 */
export const manners = ['waits', 'streams', 'repeats'] as const;
export type Manner = (typeof manners)[number];

/** How many messages a repeating server keeps. */
const kept = 100;

/**
 * One session, from the server's numbered messages to the workflow that receives them, through its own proxy.
 */
export class Line {
	readonly sessionId: string;
	readonly manner: Manner;
	readonly proxy: ChaosProxy;
	workflow: Stored | undefined;
	/** Times at which the service accepted a channel, in milliseconds since 1970. */
	readonly openings: number[] = [];
	/** How many of the next upgrades are refused with 401. */
	refusals = 0;
	/** Number of the newest message. */
	made = 0;
	#round = '';
	#sent = 0;

	constructor(sessionId: string, manner: Manner, servicePort: () => number) {
		this.sessionId = sessionId;
		this.manner = manner;
		this.proxy = new ChaosProxy(servicePort);
	}

	/** Restarts the numbers at 1. */
	begin(round: string): void {
		this.#round = round;
		this.made = 0;
		this.#sent = 0;
		this.openings.length = 0;
	}

	isOfRound(id: string): boolean {
		return id.startsWith(`${this.#round}:`);
	}

	/** Creates more messages. They are sent now, or when there is a channel. */
	make(service: AgentService, count = 1): void {
		this.made += count;
		if (service.openSockets(this.sessionId) === 0) return;
		service.send(this.sessionId, ...this.#messages(this.#sent + 1));
		this.#sent = this.made;
	}

	answer(): UpgradeStep {
		if (this.refusals > 0) {
			this.refusals--;
			return { status: 401 };
		}
		this.openings.push(Date.now());
		if (this.manner !== 'repeats') return {};
		this.#sent = this.made;
		return { messages: this.#messages(Math.max(1, this.made - kept + 1)) };
	}

	#messages(from: number): { n: number; id: string }[] {
		const count = this.made - from + 1;
		return Array.from({ length: count }, (_, index) => {
			const n = from + index;
			return { n, id: `${this.#round}:${n}` };
		});
	}
}
