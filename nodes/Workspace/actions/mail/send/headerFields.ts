import { refusal } from '../../../../core/errors';
import { shortened } from '../../../../core/text';
import { named } from '../../../../fields/naming';

/** Contains the email's own marker, so that an email with an unknown outcome can be found. */
export const markerHeader = 'X-Agent-Workspace-Id';

/** What identifies an email with an idempotency key. */
export interface Keyed {
	/** Hash of the key. */
	readonly mark: string;
	/** Hash of everything that makes up the email. A different email with the same key is refused. */
	readonly content: string;
}

/** The value of the marker header: the token of this try, and the key's data if there is one. */
export function markerOf(token: string, keyed: Keyed | undefined): string {
	return keyed === undefined ? token : `${token} ${keyed.mark} ${keyed.content}`;
}

/** Headers that are set by other fields or by composing the email. */
const ownFields: Readonly<Record<string, string>> = {
	'apparently-to': named('to'),
	bcc: named('bcc'),
	cc: named('cc'),
	from: `${named('senderName')} and ${named('fromAlias')}`,
	'message-id': 'Gmail',
	'mime-version': 'the node',
	'reply-to': named('replyTo'),
	'return-path': 'Gmail',
	sender: `${named('senderName')} and ${named('fromAlias')}`,
	subject: named('subject'),
	to: named('to'),
	[markerHeader.toLowerCase()]: 'the node',
};

interface HeaderField {
	readonly name: string;
	readonly value: string;
}

/**
 * Checks the custom header fields.
 * @throws NodeError 400 for anything that could forge other headers
 */
export function checkedHeaders(headers: readonly HeaderField[]): Array<{ key: string; value: string }> {
	return headers.map(({ name, value }) => {
		const key = name.trim();
		// Printable ASCII without the colon (RFC 5322, 2.2).
		if (!/^[!-9;-~]+$/.test(key)) {
			throw refusal(
				`'${shortened(key, 60)}' is not a header name`,
				'A header name consists of letters, digits and hyphens, such as X-Campaign.',
			);
		}
		const setBy = setterOf(key.toLowerCase());
		if (setBy !== undefined) {
			throw refusal(
				`The header '${key}' is already set by ${setBy}`,
				`Remove '${key}' from ${named('headers')}.`,
			);
		}
		return { key, value: oneLine(value, `The header '${key}'`) };
	});
}

/** Who or which field sets a header; undefined for a header that anyone may set. */
function setterOf(key: string): string | undefined {
	if (key.startsWith('content-')) return 'the node';
	// Mail servers that take the recipients from the headers prefer these to To, Cc and Bcc.
	if (key.startsWith('resent-')) return `${named('to')}, ${named('cc')} and ${named('bcc')}`;
	return ownFields[key];
}

/**
 * A text that fits in a header field.
 * @param label the user's name for the field, in quotes
 * @throws NodeError 400 for line breaks and other control characters, because they could forge other headers
 */
export function oneLine(text: string, label: string): string {
	if (!/[\u0000-\u0008\u000a-\u001f\u007f\u2028\u2029]/.test(text)) return text;
	throw refusal(
		`${label} contains a line break or another control character`,
		'It must be a single line. In an expression, use .replace(/\\s+/g, " ") to join the lines.',
	);
}
