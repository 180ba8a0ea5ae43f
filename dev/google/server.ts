import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { bearerOf } from './authenticate.ts';
import { errorReply } from './envelope.ts';
import { carriedOut, received } from './exchange.ts';
import { Faults, replyOf, type Fault } from './faults.ts';
import { OAuth, type OAuthOptions } from './oauth.ts';
import type { LoggedRequest } from './requestLog.ts';
import { respond } from './respond.ts';
import { routeFor, type Route } from './router.ts';
import { ApiError, type Reply } from './service.ts';
import { createServices, resetServices, type ServiceOptions, type Services } from './services.ts';
import { Tokens } from './tokens.ts';
import { Violation, violationStatus } from './violation.ts';

export { expectNoViolations } from './violation.ts';
export type { Fault } from './faults.ts';
export type { LoggedRequest } from './requestLog.ts';

export interface GoogleOptions extends ServiceOptions, OAuthOptions {
	/** 0, the default, takes any free port. */
	readonly port?: number;
	/** Before every path, e.g. `/google`. */
	readonly pathPrefix?: string;
	/** Waited before every answer of an API. */
	readonly latencyMilliseconds?: number;
}

/** A stand-in for Gmail, Sheets, Docs, Drive and Google's sign-in on one loopback port. */
export interface GoogleServer extends Services {
	/** With the path prefix, without a trailing slash; the APIs are reached below it under Google's own paths. */
	readonly url: string;
	/** Every request, in order of arrival. */
	readonly requests: readonly LoggedRequest[];
	/** Every breach of the contract; tests end with `expectNoViolations(server)`. */
	readonly violations: readonly string[];
	readonly tokens: Tokens;
	readonly oauth: OAuth;
	latencyMilliseconds: number;
	/** Lets something go wrong with a coming request. */
	fault(fault: Fault): void;
	/** Forgets all data, tokens, faults, requests and violations. */
	reset(): void;
	close(): Promise<void>;
}

const uploadSession = 'upload.session';

export async function startGoogle(options: GoogleOptions = {}): Promise<GoogleServer> {
	const { port = 0, pathPrefix = '', users = ['someone@example.com'] } = options;
	const services = createServices(options);
	const tokens = new Tokens(users[0] ?? '');
	const faults = new Faults();
	const requests: LoggedRequest[] = [];
	const violations: string[] = [];
	const server = createServer((request, response) => {
		void front.serve(request, response);
	});
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathPrefix}`;
	const oauth = new OAuth(tokens, url, { ...options, users });
	const front = new Front({ services, tokens, oauth, faults, requests, violations, url, pathPrefix });
	front.latencyMilliseconds = options.latencyMilliseconds ?? 0;
	return {
		...services,
		url,
		requests,
		violations,
		tokens,
		oauth,
		get latencyMilliseconds() {
			return front.latencyMilliseconds;
		},
		set latencyMilliseconds(milliseconds) {
			front.latencyMilliseconds = milliseconds;
		},
		fault: (fault) => {
			faults.add(fault);
		},
		reset() {
			resetServices(services);
			for (const part of [tokens, faults, oauth]) part.clear();
			requests.length = 0;
			violations.length = 0;
		},
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
			await oauth.close();
		},
	};
}

interface Parts {
	readonly services: Services;
	readonly tokens: Tokens;
	readonly oauth: OAuth;
	readonly faults: Faults;
	readonly requests: LoggedRequest[];
	readonly violations: string[];
	readonly url: string;
	readonly pathPrefix: string;
}

/** What every request passes: log, fault, contract, sign-in, service. */
class Front {
	latencyMilliseconds = 0;
	private readonly parts: Parts;

	constructor(parts: Parts) {
		this.parts = parts;
	}

	async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { oauth, requests, faults } = this.parts;
		const address = new URL(request.url ?? '/', this.parts.url);
		const path = this.withoutPrefix(address.pathname);
		const inSession = address.searchParams.has('upload_id');
		const route = path === undefined ? undefined : routeFor(request.method ?? '', path, inSession);
		const oauthPage = route ? undefined : oauth.pageOf(path ?? address.pathname);
		const session = route?.upload === true && inSession;
		const logged: LoggedRequest = {
			method: oauthPage ?? (session ? uploadSession : route?.id),
			httpMethod: request.method ?? '',
			path: path ?? address.pathname,
			query: address.searchParams,
			headers: request.headers,
			token: bearerOf(request.headers.authorization),
			at: Date.now(),
			body: undefined,
			size: 0,
			status: undefined,
		};
		requests.push(logged);
		const fault = faults.take(logged) ?? {};
		const reply = await this.replyTo(request, { route, oauthPage, session, address, logged, fault });
		if (reply === undefined) return;
		const wait = this.latencyMilliseconds + (fault.delayMilliseconds ?? 0);
		if (wait > 0) await sleep(wait);
		logged.status = reply.status ?? 200;
		await respond(request, response, reply, fault);
	}

	/** @returns undefined when nobody waits for an answer */
	private async replyTo(request: IncomingMessage, incoming: Incoming): Promise<Reply | undefined> {
		const { fault, logged } = incoming;
		const scripted = replyOf(fault, logged.method ?? '');
		const { connection } = fault;
		const skipped =
			scripted !== undefined ? !fault.carriedOut : connection === 'resetBefore' || connection === 'blackHole';
		const reply = await this.carryOut(request, incoming, skipped);
		if (connection === 'resetBefore' || connection === 'resetAfter') request.socket.resetAndDestroy();
		const unanswered =
			connection === 'resetBefore' || connection === 'resetAfter' || connection?.startsWith('blackHole');
		return unanswered === true ? undefined : (scripted ?? reply);
	}

	/** Reads and checks the request; carries it out unless a fault forbids it. */
	private async carryOut(
		request: IncomingMessage,
		incoming: Incoming,
		skipped: boolean,
	): Promise<Reply | undefined> {
		const { route, oauthPage, session, address, logged } = incoming;
		const { services, oauth, violations } = this.parts;
		try {
			if (oauthPage !== undefined) return await oauth.reply(request, address, skipped);
			if (!route) throw new Violation(`${logged.httpMethod} ${logged.path}`, ['not in the contract']);
			if (session) {
				if (skipped) return void request.resume();
				return await services.drive.putToSession(String(logged.query.get('upload_id')), request);
			}
			const exchange = await received(request, route, logged);
			return skipped ? {} : await carriedOut(exchange, this.parts, this.publicAddress(address));
		} catch (error) {
			if (error instanceof ApiError) return errorReply(route?.id ?? '', error);
			if (error instanceof Violation) {
				violations.push(error.message);
				return { status: violationStatus, body: { violation: error.message } };
			}
			if (request.errored) return undefined;
			violations.push(`${logged.method ?? logged.path}: ${String(error)}`);
			return { status: violationStatus, body: { violation: String(error) } };
		}
	}

	/** As the client knows it, without a query. */
	private publicAddress(address: URL): URL {
		return new URL(address.pathname, this.parts.url);
	}

	private withoutPrefix(pathname: string): string | undefined {
		const { pathPrefix } = this.parts;
		return pathname.startsWith(`${pathPrefix}/`) ? pathname.slice(pathPrefix.length) : undefined;
	}
}

interface Incoming {
	readonly route: Route | undefined;
	readonly oauthPage: string | undefined;
	readonly session: boolean;
	readonly address: URL;
	readonly logged: LoggedRequest;
	readonly fault: Fault;
}
