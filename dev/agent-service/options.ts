import type { IncomingHttpHeaders } from 'node:http';

import type { ExecuteFields, ReceivedRequest } from './request.ts';
import type { ExecuteStep, Message, UpgradeStep } from './script.ts';
import type { SessionStore } from './sessions.ts';
import type { Timers } from './timers.ts';

export interface AgentServiceOptions {
	/** 0 means any free port. */
	readonly port?: number;
	readonly host?: string;
	/** Default `test-api-key`. */
	readonly apiKey?: string;
	/** The path before `/execute` and `/ws`, such as `/agents/v2`. */
	readonly pathPrefix?: string;
	/** The wait before every answer to an execute request. */
	readonly latencyMilliseconds?: number;
	/** Serves https: and wss: with a self-signed certificate that no client trusts. */
	readonly tls?: boolean;
	/** Returns the JSON body of an undisturbed answer. What the real service answers is not known. */
	readonly answer?: (request: ExecuteFields) => unknown;
	/**
	 * Returns the messages sent on the session's channel after an execute call. What the real service sends
	 * is not known.
	 */
	readonly messages?: (request: ExecuteFields) => readonly Message[];
	/** The wait between these messages. The default is 0. */
	readonly messageIntervalMilliseconds?: number;
	/** Decides how to answer a request if no queued step applies to it. */
	readonly execute?: (request: ReceivedRequest) => ExecuteStep | undefined;
	/** Decides how to answer an upgrade if no queued step applies to it. */
	readonly upgrade?: (upgrade: ReceivedUpgrade) => UpgradeStep | undefined;
	/** A newly opened channel receives this many of the session's latest messages. Default 0. */
	readonly replay?: number;
	/** If set, a session has only one channel. A new channel closes the old channel with this code. */
	readonly kickCode?: number;
	/** Whether requests and upgrades are recorded. The default is true. */
	readonly keepLog?: boolean;
}

/** An upgrade request as it arrived. */
export interface ReceivedUpgrade {
	/** With the query. */
	readonly url: string;
	readonly path: string;
	readonly query: Readonly<Record<string, string>>;
	readonly headers: IncomingHttpHeaders;
	/** Milliseconds since 1970. */
	readonly receivedAt: number;
}

/** What the two endpoints of a service share. */
export interface ServiceState {
	readonly options: AgentServiceOptions;
	readonly apiKey: string;
	/** The path before `/execute` and `/ws`, without a slash at its end. */
	readonly prefix: string;
	readonly sessions: SessionStore;
	readonly timers: Timers;
}
