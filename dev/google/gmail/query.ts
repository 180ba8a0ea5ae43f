import { collectParts, readText } from './mime.ts';
import type { StoredMail } from './mailbox.ts';

type Test = (mail: StoredMail) => boolean;

/** Parses Gmail's search syntax, as far as tests need it: terms, quotes, `-`, `OR`, `( )`, `{ }`. */
export function parseQuery(query: string): Test {
	const tokens =
		query.match(/-?[a-z_]+:(?=[({])|-?(?:[a-z0-9_]+:)?"[^"]*"|[(){}]|-(?=[({])|[^\s(){}]+/gi) ??
		[];
	return parseSequence(tokens, undefined, '');
}

function parseSequence(tokens: string[], end: string | undefined, field: string): Test {
	const conditions: Test[] = [];
	let join = false;
	for (let token = tokens.shift(); token !== undefined && token !== end; token = tokens.shift()) {
		if (token === 'OR') {
			join = true;
			continue;
		}
		const test = parseTerm(token, tokens, field);
		// `a b OR c` is `a (b OR c)`.
		const other = join || end === '}' ? conditions.pop() : undefined;
		conditions.push(other ? (mail) => other(mail) || test(mail) : test);
		join = false;
	}
	return (mail) => conditions.every((test) => test(mail));
}

function parseTerm(token: string, rest: string[], field: string): Test {
	if (token.startsWith('-')) {
		const test = parseTerm(token.slice(1) || (rest.shift() ?? ''), rest, field);
		return (mail) => !test(mail);
	}
	if (token === '(') return parseSequence(rest, ')', field);
	if (token === '{') return parseSequence(rest, '}', field);
	const colon = /^([a-z0-9_]+):/i.exec(token)?.[1];
	if (colon !== undefined && token.length === colon.length + 1) {
		return parseSequence(rest, rest.shift() === '{' ? '}' : ')', colon.toLowerCase());
	}
	const name = colon?.toLowerCase() ?? field;
	const value = (colon === undefined ? token : token.slice(colon.length + 1))
		.replaceAll('"', '')
		.toLowerCase();
	return (mail) => (terms[name] ?? isAnywhere)(mail, value);
}

const terms: Readonly<Record<string, (mail: StoredMail, value: string) => boolean>> = {
	from: (mail, value) => isInHeader(mail, 'From', value),
	to: (mail, value) => ['To', 'Cc', 'Bcc'].some((name) => isInHeader(mail, name, value)),
	cc: (mail, value) => isInHeader(mail, 'Cc', value),
	bcc: (mail, value) => isInHeader(mail, 'Bcc', value),
	subject: (mail, value) => isInHeader(mail, 'Subject', value),
	rfc822msgid: (mail, value) => isInHeader(mail, 'Message-ID', value),
	in: (mail, value) => value === 'anywhere' || hasLabel(mail, value),
	label: hasLabel,
	is: (mail, value) => (value === 'read' ? !mail.labelIds.has('UNREAD') : hasLabel(mail, value)),
	has: (mail, value) => value === 'attachment' && listFileNames(mail).length > 0,
	filename: (mail, value) =>
		listFileNames(mail).some((name) => name.toLowerCase().includes(value)),
	after: (mail, value) => mail.internalDate >= parseTime(value),
	newer: (mail, value) => mail.internalDate >= parseTime(value),
	before: (mail, value) => mail.internalDate < parseTime(value),
	older: (mail, value) => mail.internalDate < parseTime(value),
	newer_than: (mail, value) => mail.internalDate >= Date.now() - parseSpan(value),
	older_than: (mail, value) => mail.internalDate < Date.now() - parseSpan(value),
	larger: (mail, value) => mail.raw.length > parseBytes(value),
	smaller: (mail, value) => mail.raw.length < parseBytes(value),
};

function isAnywhere(mail: StoredMail, value: string): boolean {
	const headers = ['From', 'To', 'Cc', 'Subject'].some((name) => isInHeader(mail, name, value));
	const texts = collectParts(mail.mime).filter(
		({ mimeType, filename }) => mimeType.startsWith('text/') && !filename,
	);
	return headers || texts.some((part) => readText(part).toLowerCase().includes(value));
}

function isInHeader({ mime }: StoredMail, name: string, value: string): boolean {
	return mime.headers.some(
		(header) =>
			header.name.toLowerCase() === name.toLowerCase() &&
			header.value.toLowerCase().includes(value),
	);
}

function hasLabel({ labelIds }: StoredMail, value: string): boolean {
	return [...labelIds].some((label) => label.toLowerCase() === value);
}

function listFileNames({ mime }: StoredMail): string[] {
	return collectParts(mime).flatMap(({ filename }) => (filename === '' ? [] : [filename]));
}

/** Parses seconds since 1970, or a date. A date means midnight in Pacific time. */
function parseTime(value: string): number {
	if (/^\d{5,}$/.test(value)) return Number(value) * 1000;
	const [year, month, day] = value.split(/[/-]/).map(Number);
	return Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, 8);
}

function parseSpan(value: string): number {
	const days = { h: 1 / 24, d: 1, m: 30, y: 365 }[value.at(-1) ?? 'd'] ?? 1;
	return Number.parseInt(value, 10) * days * 86_400_000;
}

function parseBytes(value: string): number {
	const factor = { k: 1024, m: 1024 * 1024 }[value.at(-1) ?? ''] ?? 1;
	return Number.parseInt(value, 10) * factor;
}
