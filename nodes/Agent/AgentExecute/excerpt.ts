import { shortened } from '../../core/shortened';
import { type Answer, contentOf } from './response';

/** Bytes of an error's body that are read as JSON. A longer body is not a message for people. */
const maxJsonBytes = 1024 * 1024;
/** Characters that are searched for the text that is shown. */
const maxLookedThrough = 64 * 1024;
const maxShown = 300;

/** The beginning of the service's response, without secrets. */
export function excerpt(answer: Answer, call: { redact(text: string): string }): string {
	const isCut = answer.body.length > maxJsonBytes;
	const body = isCut ? answer.body.subarray(0, maxLookedThrough) : answer.body;
	const content = contentOf({ ...answer, body });
	if (!('response' in content) || content.response === null) return '';
	const { response } = content;
	const text =
		typeof response === 'string' ? plain(response) : (messageIn(response) ?? body.toString('utf8'));
	return shortened(call.redact(onOneLine(text.slice(0, maxLookedThrough))).trim(), maxShown);
}

const onOneLine = (text: string) => text.replace(/\s+/g, ' ');

/** The beginning of a page's text, without its tags, scripts and styles. */
function plain(text: string): string {
	const page = text.slice(0, maxLookedThrough);
	let result = '';
	let at = 0;
	while (at < page.length) {
		const open = page.indexOf('<', at);
		const close = open === -1 ? -1 : page.indexOf('>', open);
		if (close === -1) return result + page.slice(at);
		result += `${page.slice(at, open)} `;
		at = afterElement(page, open, close);
	}
	return result;
}

/** Where the text goes on behind a tag, or behind the whole element where its content is no text. */
function afterElement(page: string, open: number, close: number): number {
	const name = /^(?:style|script)\b/i.exec(page.slice(open + 1, open + 8))?.[0];
	if (name === undefined) return close + 1;
	const end = new RegExp(`</${name}`, 'gi');
	end.lastIndex = close;
	const endClose = end.exec(page) ? page.indexOf('>', end.lastIndex) : -1;
	return endClose === -1 ? page.length : endClose + 1;
}

/** The usual places of a message in a JSON error. */
function messageIn(response: unknown, depth = 0): string | undefined {
	if (typeof response !== 'object' || response === null || depth > 4) return undefined;
	if ('message' in response && typeof response.message === 'string') return response.message;
	if (!('error' in response)) return undefined;
	return typeof response.error === 'string' ? response.error : messageIn(response.error, depth + 1);
}
