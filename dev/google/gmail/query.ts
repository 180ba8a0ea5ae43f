import { allParts, headerOf, textOf } from './mime.ts';
import type { StoredMail } from './mailbox.ts';

type Test = (mail: StoredMail) => boolean;

/** Gmail's search syntax, as far as tests need it: terms, quotes, `-`, `OR`, `( )`, `{ }`. */
export function parseQuery(query: string): Test {
	const tokens =
		query.match(/-?[a-z_]+:(?=[({])|-?(?:[a-z0-9_]+:)?"[^"]*"|[(){}]|-(?=[({])|[^\s(){}]+/gi) ?? [];
	return sequence(tokens, undefined, '');
}

function sequence(tokens: string[], end: string | undefined, field: string): Test {
	const alternatives: Test[][] = [[]];
	let join = false;
	for (let token = tokens.shift(); token !== undefined && token !== end; token = tokens.shift()) {
		if (token === 'OR') {
			join = true;
			continue;
		}
		const test = term(token, tokens, field);
		// `a b OR c` is `a (b OR c)`.
		if (join || end === '}') {
			const conditions = alternatives.at(-1) ?? [];
			const condition = conditions.pop();
			conditions.push(condition && (join || end === '}') ? (mail) => condition(mail) || test(mail) : test);
		} else alternatives.at(-1)?.push(test);
		join = false;
	}
	const conditions = alternatives.flat();
	return (mail) => conditions.every((test) => test(mail));
}

function term(token: string, rest: string[], field: string): Test {
	if (token.startsWith('-')) {
		const test = token === '-' ? term(rest.shift() ?? '', rest, field) : term(token.slice(1), rest, field);
		return (mail) => !test(mail);
	}
	if (token === '(') return sequence(rest, ')', field);
	if (token === '{') return sequence(rest, '}', field);
	const colon = /^([a-z0-9_]+):/i.exec(token)?.[1];
	if (colon !== undefined && token.length === colon.length + 1) {
		return sequence(rest, rest.shift() === '{' ? '}' : ')', colon.toLowerCase());
	}
	const name = colon?.toLowerCase() ?? field;
	const value = (colon === undefined ? token : token.slice(colon.length + 1))
		.replaceAll('"', '')
		.toLowerCase();
	return (mail) => (terms[name] ?? anywhere)(mail, value);
}

const terms: Readonly<Record<string, (mail: StoredMail, value: string) => boolean>> = {
	from: (mail, value) => inHeader(mail, 'From', value),
	to: (mail, value) => ['To', 'Cc', 'Bcc'].some((name) => inHeader(mail, name, value)),
	cc: (mail, value) => inHeader(mail, 'Cc', value),
	bcc: (mail, value) => inHeader(mail, 'Bcc', value),
	subject: (mail, value) => inHeader(mail, 'Subject', value),
	rfc822msgid: (mail, value) => inHeader(mail, 'Message-ID', value),
	in: (mail, value) => value === 'anywhere' || hasLabel(mail, value),
	label: hasLabel,
	is: (mail, value) => (value === 'read' ? !mail.labelIds.has('UNREAD') : hasLabel(mail, value)),
	has: (mail, value) => value === 'attachment' && files(mail).length > 0,
	filename: (mail, value) => files(mail).some((name) => name.toLowerCase().includes(value)),
	after: (mail, value) => mail.internalDate >= millisecondsOf(value),
	newer: (mail, value) => mail.internalDate >= millisecondsOf(value),
	before: (mail, value) => mail.internalDate < millisecondsOf(value),
	older: (mail, value) => mail.internalDate < millisecondsOf(value),
	newer_than: (mail, value) => mail.internalDate >= Date.now() - spanOf(value),
	older_than: (mail, value) => mail.internalDate < Date.now() - spanOf(value),
	larger: (mail, value) => mail.raw.length > bytesOf(value),
	smaller: (mail, value) => mail.raw.length < bytesOf(value),
};

function anywhere(mail: StoredMail, value: string): boolean {
	const headers = ['From', 'To', 'Cc', 'Subject'].some((name) => inHeader(mail, name, value));
	const texts = allParts(mail.mime).filter(
		({ mimeType, filename }) => mimeType.startsWith('text/') && !filename,
	);
	return headers || texts.some((part) => textOf(part).toLowerCase().includes(value));
}

function inHeader({ mime }: StoredMail, name: string, value: string): boolean {
	return headerOf(mime.headers, name)?.toLowerCase().includes(value) ?? false;
}

function hasLabel({ labelIds }: StoredMail, value: string): boolean {
	return [...labelIds].some((label) => label.toLowerCase() === value);
}

function files({ mime }: StoredMail): string[] {
	return allParts(mime).flatMap(({ filename }) => (filename === '' ? [] : [filename]));
}

/** Parses seconds since 1970, or a date. A date means midnight in Pacific time. */
function millisecondsOf(value: string): number {
	if (/^\d{5,}$/.test(value)) return Number(value) * 1000;
	const [year, month, day] = value.split(/[/-]/).map(Number);
	return Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, 8);
}

function spanOf(value: string): number {
	const days = { h: 1 / 24, d: 1, m: 30, y: 365 }[value.at(-1) ?? 'd'] ?? 1;
	return Number.parseInt(value, 10) * days * 86_400_000;
}

function bytesOf(value: string): number {
	const factor = { k: 1024, m: 1024 * 1024 }[value.at(-1) ?? ''] ?? 1;
	return Number.parseInt(value, 10) * factor;
}
