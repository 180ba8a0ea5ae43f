import type { PhrasingContent, RootContent } from 'mdast';

import { cleanText, type Marks, type Span } from '../document/blocks';

/** Addresses by link reference identifier. */
export type Definitions = ReadonlyMap<string, string>;

/** Protocols that Docs links to. Any other address is written in parentheses after the text. */
export const linkable = /^(?:https?|ftp|mailto|tel):/i;
const lineBreakTag = /^<br\s*\/?>$/i;

export function spansOf(
	nodes: ReadonlyArray<PhrasingContent | RootContent>,
	definitions: Definitions,
): Span[] {
	const spans = nodes.flatMap((node) => spansIn(node, {}, definitions));
	return spans.filter((span) => span.text !== '');
}

function spansIn(node: PhrasingContent | RootContent, marks: Marks, definitions: Definitions): Span[] {
	const inside = (children: readonly PhrasingContent[], added: Marks) =>
		children.flatMap((child) => spansIn(child, { ...marks, ...added }, definitions));
	const linked = (children: readonly PhrasingContent[], url = ''): Span[] => {
		if (linkable.test(url)) return inside(children, { link: url });
		// An entry of a table of contents.
		if (url.startsWith('#')) return inside(children, {});
		const spans = inside(children, {});
		const text = spans.map((span) => span.text).join('');
		const address = cleanText(url);
		return address === '' || address === text ? spans : [...spans, { text: ` (${address})`, marks }];
	};
	switch (node.type) {
		case 'text':
			return [{ text: cleanText(node.value).replace(/\n/g, ' '), marks }];
		case 'strong':
			return inside(node.children, { bold: true });
		case 'emphasis':
			return inside(node.children, { italic: true });
		case 'delete':
			return inside(node.children, { strikethrough: true });
		case 'inlineCode':
			return [{ text: cleanText(node.value).replace(/\n/g, ' '), marks: { ...marks, code: true } }];
		case 'break':
			return [{ text: '\v', marks: {} }];
		case 'link':
			return linked(node.children, node.url);
		case 'linkReference':
			return linked(node.children, definitions.get(node.identifier));
		case 'image':
			return [picture(node.alt, node.url, marks)];
		case 'imageReference':
			return [picture(node.alt, definitions.get(node.identifier), marks)];
		case 'footnoteReference':
			return [{ text: `[${node.identifier}]`, marks }];
		case 'html':
			return [{ text: lineBreakTag.test(node.value) ? '\v' : cleanText(withoutComments(node.value)), marks }];
		default:
			return [];
	}
}

/** HTML without its comments. One that does not end is text, so that nothing is lost. */
export function withoutComments(html: string): string {
	let kept = '';
	let at = 0;
	for (;;) {
		const start = html.indexOf('<!--', at);
		const end = start < 0 ? -1 : html.indexOf('-->', start + 2);
		if (end < 0) return kept + html.slice(at);
		kept += html.slice(at, start);
		at = end + 3;
	}
}

/** Only Google fetches pictures, so only from public addresses. */
export const fetchable = /^https:/i;

/** A link, which a picture can replace. */
function picture(alt: string | null | undefined, url: string | undefined, marks: Marks): Span {
	const text = cleanText(alt ?? '') || (url ?? '');
	if (url === undefined || !linkable.test(url)) return { text, marks };
	return { text, marks: { ...marks, link: url }, ...(fetchable.test(url) && { picture: url }) };
}
