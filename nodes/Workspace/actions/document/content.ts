import { paragraph, cleanText, type Content, type Simplified } from '../../../untrusted/document/blocks';
import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import type { Item } from '../../operation';
import { planContent, planText, type Plan } from './plan';

/** Text to insert unchanged, or content converted from Markdown. */
export type Parsed = string | Content;

/** @throws Failure 400 for Markdown that cannot be read */
export async function parse(content: string, format: 'text' | 'markdown', item: Item): Promise<Parsed> {
	const text = cleanText(content);
	if (format === 'text') return text;
	const { runInWorker } = await import('../../../untrusted/runInWorker');
	const answer = await runInWorker('contentOfMarkdown', text, item.signal);
	if ('result' in answer) {
		// The task gives a content.
		const parsed = JSON.parse(answer.result) as Content;
		for (const what of parsed.simplified ?? []) item.hint(hints[what]);
		return parsed;
	}
	throw refusal(
		`${named('content')} cannot be read as Markdown: ${answer.trouble}`,
		`Nothing was written. Shorten or simplify it, or set ${named('contentFormat')} to Text.`,
	);
}

const hints: Readonly<Record<Simplified, string>> = {
	images: 'Images in the Markdown became links, because they cannot be inserted together with the text.',
	footnotes: 'Footnotes in the Markdown became numbers in brackets. Their text stayed where it was.',
	'relative links':
		'Google Docs only supports full URLs as links. Other links in the Markdown became text, followed by their address in parentheses.',
};

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
