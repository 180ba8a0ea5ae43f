import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { bearerOf } from './authenticate.ts';
import { findQueryFaults } from './check.ts';
import { errorReply } from './envelope.ts';
import { carryOutExchange } from './exchange.ts';
import { partsOf } from './multipart.ts';
import type { LoggedRequest } from './requestLog.ts';
import { routeOf } from './router.ts';
import { ApiError, type Reply } from './service.ts';
import type { Quotas } from './quotas.ts';
import type { Services } from './services.ts';
import type { Tokens } from './tokens.ts';
import { Violation } from './violation.ts';

export const batchPath = '/batch/gmail/v1';
export const batchMethod = 'gmail.batch';

/** https://developers.google.com/workspace/gmail/api/guides/batch */
const mostParts = 100;

interface Parts {
	readonly services: Services;
	readonly tokens: Tokens;
	readonly quotas: Quotas;
	readonly url: string;
}

/**
 * Answers a batch of Gmail requests without a body. Each part costs as much as a single request and may be refused
 * alone. All of them run at once, so that parts of a large batch reach the limit of concurrent requests
 * (Gurusabarish/gmail-cleaner#5).
 * @param meanwhile resolves when the answer is due; the parts count as running until then
 */
export async function answerBatch(
	request: IncomingMessage,
	logged: LoggedRequest,
	parts: Parts,
	meanwhile: () => Promise<void>,
): Promise<Reply> {
	const contentType = request.headers['content-type'] ?? '';
	const boundary = /^multipart\/mixed;\s*boundary="?([^";]+)"?/.exec(contentType)?.[1];
	const asked = partsOf(await buffer(request), boundary ?? '');
	if (boundary === undefined || asked.length === 0 || asked.length > mostParts) {
		return errorReply(
			'gmail.',
			new ApiError(400, 'Failed to parse batch request.', { reason: 'badRequest' }),
		);
	}
	const answers = await Promise.all(
		asked.map(async ({ headers, data }) => {
			const reply = await partReply(data.toString('utf8'), logged, parts, meanwhile);
			const id = headers['content-id']?.replace('<', '<response-') ?? '<response->';
			const body = JSON.stringify(reply.body);
			return `--batch_answer\r\nContent-Type: application/http\r\nContent-ID: ${id}\r\n\r\nHTTP/1.1 ${reply.status ?? 200} X\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${body}\r\n`;
		}),
	);
	return {
		headers: { 'content-type': 'multipart/mixed; boundary=batch_answer' },
		body: Buffer.from(`${answers.join('')}--batch_answer--\r\n`),
	};
}

async function partReply(
	text: string,
	{ headers, token }: LoggedRequest,
	parts: Parts,
	meanwhile: () => Promise<void>,
): Promise<Reply> {
	const [, method = '', target = ''] = /^([A-Z]+) (\S+)/.exec(text) ?? [];
	const address = new URL(target, parts.url);
	const route = routeOf(method, address.pathname);
	if (!route) throw new Violation(`${method} ${target}`, ['not in the contract']);
	const faults = findQueryFaults(route, address.searchParams);
	if (faults.length > 0) throw new Violation(`${route.id} (part of a batch)`, faults);
	const logged = { headers, token: token ?? bearerOf(headers.authorization), query: address.searchParams };
	const exchange = { route, body: undefined, media: undefined, resumable: false };
	try {
		return await parts.quotas.atOnce(route.id, async () => {
			const whole = { ...logged, method: route.id, httpMethod: method, path: address.pathname };
			const unread = { at: Date.now(), body: undefined, size: 0, status: undefined };
			const reply = await carryOutExchange({ ...exchange, logged: { ...whole, ...unread } }, parts, address);
			await meanwhile();
			return reply;
		});
	} catch (error) {
		if (error instanceof ApiError) return errorReply(route.id, error);
		throw error;
	}
}
