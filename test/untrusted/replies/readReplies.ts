import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { ReplyContext } from '../../../nodes/untrusted/mail/newText';

/** An email, and what of it is new. */
export interface Reply {
	readonly title: string;
	readonly context: ReplyContext;
	readonly text: string;
	readonly kept: string;
}

const reply: ReplyContext = { subject: 'Re: Offer', hasReplyHeader: true };
const contexts: Readonly<Record<string, ReplyContext>> = {
	first: { subject: 'Offer', hasReplyHeader: false },
	forward: { subject: 'Fwd: Offer', hasReplyHeader: true },
	'Turkish forward': { subject: 'İLT: Teklif', hasReplyHeader: true },
	'tagged forward': { subject: '[External] WG: Offer', hasReplyHeader: true },
};

/**
 * Reads a file of samples. Each begins with a line `# title | context`; lines that are to be kept begin with `+`, others with `-`.
 * What follows `‖` on a line that is kept is not. An invisible character is written as `\u200e`.
 */
export function readReplies(file: string): Reply[] {
	const content = readFileSync(path.join(__dirname, file), 'utf8').replaceAll(
		/\\u([0-9a-f]{4})/g,
		(_, code: string) => String.fromCharCode(Number.parseInt(code, 16)),
	);
	return content
		.split(/^# /m)
		.slice(1)
		.map((sample) => {
			const [head = '', ...lines] = sample.replace(/\n$/, '').split('\n');
			const [title = '', context = ''] = head.split(' | ');
			const kept = lines
				.filter((line) => line.startsWith('+'))
				.map((line) => line.slice(1).replace(/‖.*/, ''));
			return {
				title,
				context: contexts[context] ?? reply,
				text: lines.map((line) => line.slice(1).replace('‖', '')).join('\n'),
				kept: unify(kept.join('\n')),
			};
		});
}

/** Without what makes little difference to a reader: spaces at the end of a line, and blank lines. */
export function unify(text: string): string {
	return text
		.replaceAll(/[^\S\n]+$/gm, '')
		.replaceAll(/\n{2,}/g, '\n')
		.trim();
}
