import { Readable } from 'node:stream';

import type { RequestSender } from '../../nodes/http/request';

/** Does what n8n's request helper does for the package, with Node's own client. */
export function httpSender(token: string): RequestSender {
	return async ({ url, method, headers, body }) => {
		const sent = body instanceof Readable ? Buffer.concat(await body.toArray()) : body;
		const answer = await fetch(url, {
			method,
			headers: { ...(headers as Record<string, string>), authorization: `Bearer ${token}` },
			body: Buffer.isBuffer(sent) ? new Uint8Array(sent) : undefined,
			redirect: 'manual',
		});
		return {
			statusCode: answer.status,
			headers: Object.fromEntries(answer.headers),
			body: answer.body ? Readable.fromWeb(answer.body) : Readable.from([]),
		};
	};
}
