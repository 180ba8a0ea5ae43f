import { createHash } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import type { UpgradeStep } from './script.ts';

const trickleMilliseconds = 100;

/** Answers an upgrade with a status other than 101. */
export function refuseUpgrade(socket: Socket, status: number, step: UpgradeStep): void {
	const body = step.body ?? '';
	const headers: Record<string, string> = {
		Connection: 'close',
		Date: new Date().toUTCString(),
		'Content-Type': 'text/plain',
		'Content-Length': String(Buffer.byteLength(body)),
		...(step.retryAfter !== undefined && { 'Retry-After': String(step.retryAfter) }),
		...step.headers,
	};
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
	socket.end(
		`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
	);
}

/** Answers an upgrade without opening a channel. */
export function disturbUpgrade(
	request: IncomingMessage,
	socket: Socket,
	fault: NonNullable<UpgradeStep['fault']>,
): void {
	if (fault === 'reset') socket.resetAndDestroy();
	if (fault === 'trickle') sendTrickle(socket);
	if (fault !== 'wrongAcceptKey' && fault !== 'extension') return;
	const suffix = fault === 'extension' ? '258EAFA5-E914-47DA-95CA-C5AB0DC85B11' : 'wrong';
	const accept = createHash('sha1')
		.update(`${String(request.headers['sec-websocket-key'])}${suffix}`)
		.digest('base64');
	const lines = [
		'HTTP/1.1 101 Switching Protocols',
		'Upgrade: websocket',
		'Connection: Upgrade',
		`Sec-WebSocket-Accept: ${accept}`,
	];
	if (fault === 'extension') lines.push('Sec-WebSocket-Extensions: permessage-deflate');
	socket.write(`${lines.join('\r\n')}\r\n\r\n`);
}

function sendTrickle(socket: Socket): void {
	socket.write('HTTP/1.1 101 ');
	const timer = setInterval(() => socket.write('x'), trickleMilliseconds);
	socket.on('close', () => {
		clearInterval(timer);
	});
}
