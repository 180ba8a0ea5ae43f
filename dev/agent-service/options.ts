import type { IncomingHttpHeaders } from 'node:http';

import type { ExecuteFields, ReceivedRequest } from './request.ts';
import type { ExecuteStep, Message, UpgradeStep } from './script.ts';

export interface AgentServiceOptions {
	/** 0: any free one. */
	readonly port?: number;
	readonly host?: string;
	/** Default `test-api-key`. */
	readonly apiKey?: string;
	/** Path in front of `/execute` and `/ws`, e.g. `/agents/v2`. */
	readonly pathPrefix?: string;
	/** Before every answer to an execute request. */
	readonly latencyMilliseconds?: number;
	/** Serves https: and wss: with a certificate that nobody trusts. */
	readonly tls?: boolean;
	/** The JSON body of an undisturbed answer. What the real service answers is not known. */
	readonly answer?: (request: ExecuteFields) => unknown;
	/** Sent on the session's channel after an execute call. What the real service sends is not known. */
	readonly messages?: (request: ExecuteFields) => readonly Message[];
	/** Between those messages. Default 0. */
	readonly messageIntervalMilliseconds?: number;
	/** How a request is answered that no queued step is for. */
	readonly execute?: (request: ReceivedRequest) => ExecuteStep | undefined;
	/** How an upgrade is answered that no queued step is for. */
	readonly upgrade?: (upgrade: ReceivedUpgrade) => UpgradeStep | undefined;
	/** A channel that opens first gets the last so many messages of its session. Default 0. */
	readonly replay?: number;
	/** One channel per session: a new one closes the old one with this code. */
	readonly kickCode?: number;
	/** Whether `requests` and `upgrades` are filled. Default true. */
	readonly keepLog?: boolean;
}

/** An upgrade as it arrived. */
export interface ReceivedUpgrade {
	/** With the query. */
	readonly url: string;
	readonly path: string;
	readonly query: Readonly<Record<string, string>>;
	readonly headers: IncomingHttpHeaders;
	/** Milliseconds since 1970. */
	readonly receivedAt: number;
}
