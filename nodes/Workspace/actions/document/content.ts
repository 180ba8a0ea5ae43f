import {
	paragraph,
	cleanText,
	type Content,
	type Simplified,
	type Span,
} from '../../../untrusted/document/blocks';
import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import type { Item } from '../../operation';
import { planContent, planText, type Plan } from './plan';

/** Text to insert unchanged, or content converted from Markdown. */
export type Parsed = string | Content;

interface Source {
	readonly content: string;
	readonly contentFormat: 'text' | 'markdown';
	readonly insertImages: boolean;
}

/** @throws Failure 400 for Markdown that cannot be read */
export async function parse(
	{ content, contentFormat: format, insertImages }: Source,
	item: Item,
): Promise<Parsed> {
	const text = cleanText(content);
	if (format === 'text') return text;
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const answer = await runInWorker('contentOfMarkdown', text, item.signal);
	if ('result' in answer) {
		// The task gives a content.
		const parsed = JSON.parse(answer.result) as Content;
		const hidden = insertImages ? 'images' : 'images without address';
		for (const what of parsed.simplified ?? []) if (what !== hidden) item.hint(hints[what]);
		return insertImages ? parsed : withPictures(parsed, () => false);
	}
	throw refusal(
		`${named('content')} cannot be read as Markdown: ${answer.trouble}`,
		`Nothing was written. Shorten or simplify it, or set ${named('contentFormat')} to Text.`,
	);
}

const hints: Readonly<Record<Simplified, string>> = {
	images: `Images in the Markdown became links. Turn on ${named('insertImages')} to insert them.`,
	'images without address':
		'Images in the Markdown without a public https address became text or links: Google fetches images itself.',
	'list numbers':
		'A numbered list in the Markdown does not begin at 1. Google Docs begins every list at 1, so its numbers differ.',
	footnotes: 'Footnotes in the Markdown became numbers in brackets. Their text stayed where it was.',
	'relative links':
		'Google Docs only supports full URLs as links. Other links in the Markdown became text, followed by their address in parentheses.',
};

/** The content with these of its pictures; the others stay links. */
export function withPictures(parsed: Parsed, keep: (address: string) => boolean): Parsed {
	if (typeof parsed === 'string') return parsed;
	const kept = (spans: readonly Span[]) =>
		spans.map((span) =>
			span.picture && !keep(span.picture) ? { text: span.text, marks: span.marks } : span,
		);
	const blocks = parsed.blocks.map((block) =>
		block.kind === 'paragraph'
			? { ...block, spans: kept(block.spans) }
			: { ...block, rows: block.rows.map((row) => row.map(kept)) },
	);
	return { ...parsed, blocks };
}

export function isEmpty(parsed: Parsed): boolean {
	return typeof parsed === 'string' ? parsed === '' : parsed.blocks.length === 0;
}

/** Replaces the whole content of a tab. */
export function planWhole(
	parsed: Parsed,
	{ tabId, styled }: { tabId: string | undefined; styled: boolean },
): Plan {
	const target = { index: 1, tabId, continues: false, styled };
	return typeof parsed === 'string' ? planText(parsed, target) : planContent(parsed, target);
}

interface End {
	readonly index: number;
	readonly tabId: string;
	readonly styled: boolean;
	readonly lastParagraphEmpty: boolean;
}

/** Appends at the end of a tab. Plain text continues the last paragraph, as does a plain first paragraph of Markdown. */
export function planEnd(parsed: Parsed, newParagraph: boolean, end: End): Plan {
	// An empty last paragraph is a new one already.
	const begins = newParagraph && !end.lastParagraphEmpty;
	if (typeof parsed === 'string') return planText(begins ? `\n${parsed}` : parsed, { ...end, styled: false });
	const first = parsed.blocks[0];
	const plain = first?.kind === 'paragraph' && first.look === 'text' && first.quoteDepth === 0 && !first.list;
	if (end.lastParagraphEmpty) return planContent(parsed, { ...end, continues: false });
	if (!newParagraph && plain) return planContent(parsed, { ...end, continues: true });
	return planContent(afterParagraph(parsed), { ...end, continues: true });
}

/** The first paragraph is the existing one. */
function afterParagraph({ blocks, lists }: Content): Content {
	return {
		blocks: [paragraph([]), ...blocks],
		lists: lists.map((list) => ({ ...list, first: list.first + 1, last: list.last + 1 })),
	};
}
