import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { authenticate } from './authenticate.ts';
import { findBodyFaults, findQueryFaults } from './check.ts';
import { selectFields } from './drive/fields.ts';
import { parseUploadBody } from './multipart.ts';
import type { Quotas } from './quotas.ts';
import type { LoggedRequest } from './requestLog.ts';
import type { Route } from './router.ts';
import { ApiError, type Call, type Reply } from './service.ts';
import { findService, type Services } from './services.ts';
import type { Grant, Tokens } from './tokens.ts';
import { Violation } from './violation.ts';

/** A routed request, read and checked against the contract, but not authenticated yet. */
export interface Exchange {
	readonly route: Route;
	readonly logged: LoggedRequest;
	readonly body: unknown;
	readonly media: Call['media'];
	readonly resumable: boolean;
}

/**
 * Reads and checks a request.
 * @param tolerant accepts a query or body that the contract does not know
 * @throws Violation, ApiError 400 or 413
 */
export async function readExchange(
	request: IncomingMessage,
	route: Route,
	logged: LoggedRequest,
	tolerant: boolean,
): Promise<Exchange> {
	const bytes = await buffer(request);
	logged.size = bytes.length;
	if (route.id.startsWith('sheets.') && bytes.length > maxBodyBytes) {
		const message = `Request payload size exceeds the limit: ${maxBodyBytes} bytes.`;
		throw new ApiError(400, message, { status: 'INVALID_ARGUMENT' });
	}
	const uploadType = logged.query.get('uploadType');
	const resumable = route.upload && uploadType === 'resumable';
	const contentType = request.headers['content-type'] ?? '';
	const uploaded =
		route.upload && !resumable ? parseUploadBody(uploadType, contentType, bytes) : undefined;
	const body = uploaded ? uploaded.metadata : parseJsonBody(bytes, contentType, route.id);
	logged.body = body;
	const faults = findQueryFaults(route, logged.query);
	if (body !== undefined) faults.push(...findBodyFaults(route, 'request', body));
	if (faults.length > 0 && !tolerant) throw new Violation(`${route.id} (request)`, faults);
	const limit = Number(route.method.mediaUpload?.maxSize ?? Infinity);
	if (uploaded && uploaded.media.data.length > limit) {
		throw new ApiError(413, 'Request entity is too large.', { reason: 'uploadTooLarge' });
	}
	return { route, logged, body, media: uploaded?.media, resumable };
}

/** Limit of Google Sheets, in bytes, as reported in DNAinfos/talendcomp_tGoogleSheet#1. */
const maxBodyBytes = 10_485_760;

function parseJsonBody(bytes: Buffer, contentType: string, id: string): unknown {
	if (bytes.length === 0) return undefined;
	if (!contentType.startsWith('application/json')) {
		throw new Violation(`${id} (request)`, [`a JSON body came as '${contentType}'`]);
	}
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		throw new ApiError(400, 'Invalid JSON payload received.', { reason: 'parseError' });
	}
}

/**
 * Lets the service carry out the request and checks its answer.
 * @param address address of this request, used for the address of a resumable upload
 * @throws Violation, ApiError
 */
export async function carryOutExchange(
	{ route, logged, body, media, resumable }: Exchange,
	{ services, tokens, quotas }: { services: Services; tokens: Tokens; quotas: Quotas },
	address: URL,
): Promise<Reply> {
	const grant = authenticate(logged.token, route, tokens);
	quotas.take(route.id, grant.user);
	const service = findService(services, route.id);
	const call = { ...buildCall(route, logged, grant), body, media };
	if (resumable && service?.startSession) return service.startSession(call, address);
	const handler = service?.methods[route.id];
	if (!handler) throw new ApiError(501, `The stand-in does not play ${route.id}.`);
	const reply = await handler(call);
	if (Buffer.isBuffer(reply.body) || reply.body === undefined) return reply;
	const fields = logged.query.get('fields');
	const selected = fields === null ? reply.body : selectFields(reply.body, fields);
	// As the other side reads it, without keys whose value is undefined.
	const answer = JSON.parse(JSON.stringify(selected)) as unknown;
	const faults = findBodyFaults(route, 'response', answer);
	if (faults.length > 0) throw new Violation(`${route.id} (answer)`, faults);
	return { ...reply, body: answer };
}

function buildCall(
	route: Route,
	{ query, headers }: LoggedRequest,
	{ user, clientId, scopes }: Grant,
): Omit<Call, 'body' | 'media'> {
	const declared = { ...route.api.commonParameters, ...route.method.parameters };
	const parameters = [...new Set(query.keys())].map((name) => {
		const values = query.getAll(name);
		return [name, declared[name]?.repeated ? values : (values[0] ?? '')] as const;
	});
	const headerPairs = Object.entries(headers).map(([name, value]) => [name, String(value)]);
	return {
		method: route.id,
		params: { ...Object.fromEntries(parameters), ...route.params },
		user,
		clientId,
		scopes,
		headers: Object.fromEntries(headerPairs) as Record<string, string>,
	};
}
