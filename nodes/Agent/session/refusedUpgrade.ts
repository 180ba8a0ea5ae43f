import type { IncomingMessage } from 'node:http';

import type { UpgradeAnswer } from './transport';

const maxAnswerBytes = 2048;
const answerMilliseconds = 1000;

/** Reads at most 2 KiB within a second. @returns stops */
export function readAnswer(response: IncomingMessage, done: (answer: UpgradeAnswer) => void): () => void {
	const chunks: Buffer[] = [];
	let size = 0;
	let over = false;
	const stop = () => {
		over = true;
		clearTimeout(timer);
	};
	const finish = () => {
		if (over) return;
		stop();
		done(answerOf(response, Buffer.concat(chunks).subarray(0, maxAnswerBytes)));
	};
	const timer = setTimeout(finish, answerMilliseconds);
	response.on('data', (chunk: Buffer) => {
		chunks.push(chunk);
		size += chunk.length;
		if (size >= maxAnswerBytes) finish();
	});
	response.on('end', finish);
	response.on('error', finish);
	response.on('close', finish);
	return stop;
}

function answerOf(response: IncomingMessage, body: Buffer): UpgradeAnswer {
	const { headers } = response;
	return {
		statusCode: response.statusCode ?? 0,
		retryAfter: headers['retry-after'],
		date: headers.date,
		location: headers.location,
		contentType: headers['content-type'],
		body: body.toString('utf8'),
	};
}
