import { createServer } from 'node:http';

import { onLoopback } from '../loopback.ts';
import { Quotas } from './quotas.ts';
import { Faults, type Fault } from './faults.ts';
import { Front } from './front.ts';
import { OAuth, type OAuthOptions } from './oauth.ts';
import type { LoggedRequest } from './requestLog.ts';
import { createServices, resetServices, type ServiceOptions, type Services } from './services.ts';
import { Tokens } from './tokens.ts';

export { expectNoViolations } from './violation.ts';
export type { Fault } from './faults.ts';
export type { LoggedRequest } from './requestLog.ts';

export interface GoogleOptions extends ServiceOptions, OAuthOptions {
	/** 0, the default, means any free port. */
	readonly port?: number;
	/** Prefix of every path, such as `/google`. */
	readonly pathPrefix?: string;
	/** Wait before every answer of an API. */
	readonly latencyMilliseconds?: number;
	/**
	 * Also carries out requests that the contract does not know, as Google mostly does. For clients other
	 * than the package's.
	 */
	readonly tolerant?: boolean;
}

/** A stand-in for Gmail, Sheets, Docs, Drive and Google's sign-in on one loopback port. */
export interface GoogleServer extends Services {
	/** With the path prefix and without a trailing slash. The APIs are below it, under Google's own paths. */
	readonly url: string;
	/** Every request, in order of arrival. */
	readonly requests: readonly LoggedRequest[];
	/** Every violation of the contract. Tests end with `expectNoViolations(server)`. */
	readonly violations: readonly string[];
	readonly tokens: Tokens;
	readonly oauth: OAuth;
	latencyMilliseconds: number;
	/** Adds a fault for a future request. */
	fault(fault: Fault): void;
	/** What a user may request within a minute. Nothing is limited by default. */
	readonly quotas: Quotas;
	/** Removes the faults that have not occurred yet. */
	heal(): void;
	/** Removes all data, tokens, faults, requests and violations. */
	reset(): void;
	close(): Promise<void>;
}

export async function startGoogle(options: GoogleOptions = {}): Promise<GoogleServer> {
	const { port = 0, pathPrefix = '', tolerant = false } = options;
	const { users = ['someone@example.com'] } = options;
	const services = createServices(options);
	const tokens = new Tokens(users[0] ?? '');
	const faults = new Faults();
	const quotas = new Quotas();
	const requests: LoggedRequest[] = [];
	const violations: string[] = [];
	const server = createServer((request, response) => {
		front.serve(request, response).catch((error: unknown) => {
			violations.push(`${String(request.method)} ${String(request.url)}: ${String(error)}`);
			response.destroy();
		});
	});
	const listening = await onLoopback(server, port);
	const url = `${listening.url}${pathPrefix}`;
	const oauth = new OAuth(tokens, url, { ...options, users });
	const front = new Front({
		services,
		tokens,
		oauth,
		faults,
		quotas,
		requests,
		violations,
		url,
		pathPrefix,
		tolerant,
	});
	front.latencyMilliseconds = options.latencyMilliseconds ?? 0;
	return {
		...services,
		url,
		requests,
		violations,
		tokens,
		oauth,
		quotas,
		get latencyMilliseconds() {
			return front.latencyMilliseconds;
		},
		set latencyMilliseconds(milliseconds) {
			front.latencyMilliseconds = milliseconds;
		},
		fault: (fault) => {
			faults.add(fault);
		},
		heal() {
			faults.clear();
		},
		reset() {
			resetServices(services);
			for (const part of [tokens, faults, quotas, oauth]) part.clear();
			requests.length = 0;
			violations.length = 0;
		},
		close: () => listening.close(),
	};
}
