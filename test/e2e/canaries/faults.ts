import type { ServerResponse } from 'node:http';

import type { ExecuteStep, UpgradeStep } from '../../../dev/agent-service/server.ts';
import { forms, inAllForms } from '../../forms';
import type { Reply } from './stranger';

/** A harmless text in every fault. That it is found shows that a canary would be found, too. */
export const witness = 'harmless-witness-0815';

const said = (secrets: readonly string[]) => `${witness} ${secrets.map(inAllForms).join('\n')}`;
const inHeader = (secrets: readonly string[]) =>
	secrets
		.flatMap((secret) =>
			['plain', 'percent', 'base64', 'hex'].map((form) => forms[form]?.(secret)),
		)
		.join(' ');

/** What an agent service may answer, which repeats all that was sent to it. */
export function callFaults(secrets: readonly string[], elsewhere: string): ExecuteStep[] {
	const [key = ''] = secrets;
	return [
		{ status: 401, body: said(secrets) },
		{ status: 422, body: { error: { message: said(secrets) } } },
		{
			status: 500,
			contentType: 'text/html',
			body: `<p title="${said(secrets)}">${said(secrets)}</p>`,
		},
		{ status: 307, headers: { location: `${elsewhere}/${key}?k=${key}` } },
		{ status: 429, retryAfter: 9999, body: said(secrets) },
		{ status: 404, body: `${'x'.repeat(290)}${key}` },
		{ fault: 'cutBody', body: said(secrets) },
		{ fault: 'resetAfterRead' },
		{
			headers: { 'x-echo': inHeader(secrets), 'set-cookie': [`k=${key}`] },
			body: { text: witness },
		},
	];
}

/** How a channel may be refused or end, with a reason that repeats all that was sent. */
export function channelFaults(secrets: readonly string[], elsewhere: string): UpgradeStep[] {
	const [key = ''] = secrets;
	return [
		{ status: 403, body: said(secrets) },
		{
			status: 302,
			headers: { Location: `${elsewhere.replace('http', 'ws')}/${key}?k=${key}` },
		},
		{ closeCode: 4003, closeReason: `${witness} ${key}\nforged` },
		{
			status: 400,
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ error: said(secrets) }),
		},
	];
}

function json(
	response: ServerResponse,
	status: number,
	body: unknown,
	headers: Record<string, string> = {},
): void {
	response
		.writeHead(status, { 'content-type': 'application/json', ...headers })
		.end(JSON.stringify(body));
}

/** What Google may answer, repeating all that was sent to it. A digit at the end of the path chooses the answer. */
export function googleFaults(secrets: readonly string[], elsewhere: string): Reply[] {
	const echo = (request: string) => `${request} ${said(secrets)}`;
	return [
		(request, response) => {
			json(response, 400, {
				error: { code: 400, message: echo(request), status: echo(request) },
			});
		},
		(request, response) => {
			const errors = [{ reason: echo(request), message: echo(request) }];
			json(response, 403, { error: { message: witness, errors } });
		},
		(request, response) => {
			json(response, 400, { error: echo(request), error_description: echo(request) });
		},
		(_request, response) => {
			json(
				response,
				302,
				{},
				{ location: `${elsewhere}/${secrets[0]}?access_token=${secrets[0]}` },
			);
		},
		(request, response) => {
			response.writeHead(200, { 'content-type': 'text/html' }).end(echo(request));
		},
		(request, response) => {
			json(response, 401, { error: { code: 401, message: echo(request) } });
		},
		(request, response) => {
			response.writeHead(500, { 'content-type': 'text/plain' }).end(echo(request));
		},
		(_request, response) => {
			response.socket?.resetAndDestroy();
		},
	];
}
