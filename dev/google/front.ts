import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { readBearerToken } from './authenticate.ts';
import { buildErrorReply } from './envelope.ts';
import { carryOutExchange, readExchange } from './exchange.ts';
import { buildFaultReply, disturbReply, type Fault, type Faults } from './faults.ts';
import type { OAuth } from './oauth.ts';
import type { Quotas } from './quotas.ts';
import type { LoggedRequest } from './requestLog.ts';
import { respond } from './respond.ts';
import { resolveRoute, type Route } from './router.ts';
import { ApiError, type Reply } from './service.ts';
import type { Services } from './services.ts';
import type { Tokens } from './tokens.ts';
import { Violation, violationStatus } from './violation.ts';

const uploadSession = 'upload.session';

interface Parts {
	readonly services: Services;
	readonly tokens: Tokens;
	readonly oauth: OAuth;
	readonly quotas: Quotas;
	readonly faults: Faults;
	readonly requests: LoggedRequest[];
	readonly violations: string[];
	readonly url: string;
	readonly pathPrefix: string;
	readonly tolerant: boolean;
}

/** Passes every request through the log, the faults, the contract, the sign-in and the service, in this order. */
export class Front {
	latencyMilliseconds = 0;
	private readonly parts: Parts;

	constructor(parts: Parts) {
		this.parts = parts;
	}

	async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { oauth, requests, faults } = this.parts;
		const address = new URL(new URL(this.parts.url).origin + (request.url ?? '/'));
		const path = this.removePrefix(address.pathname);
		const inSession = address.searchParams.has('upload_id');
		const route =
			path === undefined ? undefined : resolveRoute(request.method ?? '', path, inSession);
		const oauthPage = route ? undefined : oauth.findPageName(path ?? '');
		const session = route?.upload === true && inSession;
		const logged: LoggedRequest = {
			method: oauthPage ?? (session ? uploadSession : route?.id),
			httpMethod: request.method ?? '',
			path: path ?? address.pathname,
			query: address.searchParams,
			headers: request.headers,
			token: readBearerToken(request.headers.authorization),
			at: Date.now(),
			body: undefined,
			size: 0,
			status: undefined,
		};
		requests.push(logged);
		const fault = faults.take(logged) ?? {};
		const incoming = { route, oauthPage, session, address, logged, fault };
		const reply = await this.delayReply(incoming, () => this.buildReply(request, incoming));
		if (reply === undefined) return;
		logged.status = reply.status ?? 200;
		await respond(request, response, reply, fault);
	}

	/** Delays the reply as configured. The request counts as running until then. */
	private async delayReply(
		{ logged: { method }, fault: { delayMilliseconds = 0 } }: Incoming,
		work: () => Promise<Reply | undefined>,
	): Promise<Reply | undefined> {
		// The stand-in's own work counts toward the latency: a large sheet takes it longer than it takes
		// Google.
		const answersAt = performance.now() + this.latencyMilliseconds + delayMilliseconds;
		try {
			return await this.parts.quotas.limitConcurrency(method, async () => {
				const reply = await work();
				const wait = answersAt - performance.now();
				if (wait > 0 && reply !== undefined) await sleep(wait);
				return reply;
			});
		} catch (error) {
			if (error instanceof ApiError) return buildErrorReply(method ?? '', error);
			throw error;
		}
	}

	/** @returns undefined if nobody waits for an answer */
	private async buildReply(
		request: IncomingMessage,
		incoming: Incoming,
	): Promise<Reply | undefined> {
		const { fault, logged } = incoming;
		const scripted = buildFaultReply(fault, logged.method ?? '');
		const { connection = 'kept' } = fault;
		const skipped = scripted ? !fault.carriedOut : /^(resetBefore|blackHole)$/.test(connection);
		const reply = await this.carryOut(request, incoming, skipped);
		if (connection.startsWith('reset')) request.socket.resetAndDestroy();
		if (/^(reset|blackHole)/.test(connection)) return undefined;
		return scripted ?? (reply && disturbReply(reply, fault, logged));
	}

	/** Reads and checks the request, then carries it out unless a fault prevents it. */
	private async carryOut(
		request: IncomingMessage,
		incoming: Incoming,
		skipped: boolean,
	): Promise<Reply | undefined> {
		const { route, oauthPage, session, address, logged } = incoming;
		const { services, oauth, violations, tolerant } = this.parts;
		try {
			if (oauthPage !== undefined) return await oauth.reply(request, address, skipped);
			if (!route)
				throw new Violation(`${logged.httpMethod} ${logged.path}`, ['not in the contract']);
			if (session) {
				if (skipped) return void request.resume();
				const uploadId = String(logged.query.get('upload_id'));
				return await services.drive.putToSession(uploadId, request);
			}
			const exchange = await readExchange(request, route, logged, tolerant);
			if (skipped) return {};
			const publicAddress = new URL(address.pathname, this.parts.url);
			return await carryOutExchange(exchange, this.parts, publicAddress);
		} catch (error) {
			if (error instanceof ApiError) return buildErrorReply(route?.id ?? '', error);
			const isViolation = error instanceof Violation;
			// A client that has gone may have sent something wrong before.
			if (!isViolation && request.errored) return undefined;
			const violation = isViolation
				? error.message
				: `${logged.method ?? logged.path}: ${String(error)}`;
			violations.push(violation);
			return { status: violationStatus, body: { violation } };
		}
	}

	private removePrefix(pathname: string): string | undefined {
		const { pathPrefix } = this.parts;
		return pathname.startsWith(`${pathPrefix}/`)
			? pathname.slice(pathPrefix.length)
			: undefined;
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
