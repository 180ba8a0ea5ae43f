import { type Answer, contentOf } from './answer';

/** The beginning of what the service said, without secrets. */
export function excerpt(answer: Answer, call: { redact(text: string): string }): string {
	const content = contentOf(answer);
	if (!('response' in content) || content.response === null) return '';
	const { response } = content;
	const text =
		typeof response === 'string' ? plain(response) : (messageIn(response) ?? JSON.stringify(response));
	const short = call.redact(text).trim();
	return short.length > 300 ? `${short.slice(0, 300)}…` : short;
}

/** A page's text without its tags. */
function plain(text: string): string {
	return text
		.replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
		.replace(/<[^>]*>/g, ' ')
		.replace(/\s+/g, ' ');
}

/** The usual places of a message in a JSON error. */
function messageIn(response: unknown): string | undefined {
	if (typeof response !== 'object' || response === null) return undefined;
	if ('message' in response && typeof response.message === 'string') return response.message;
	if (!('error' in response)) return undefined;
	return typeof response.error === 'string' ? response.error : messageIn(response.error);
}
