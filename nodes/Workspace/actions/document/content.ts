import { paragraph, cleanText, type Content } from './blocks';
import { planContent, planText, type Plan } from './plan';

/** Text to go in as it is, or what was made of Markdown. */
export type Parsed = string | Content;

export async function parse(content: string, format: 'text' | 'markdown'): Promise<Parsed> {
	const text = cleanText(content);
	if (format === 'text') return text;
	const { contentOf } = await import('./markdown/markdown');
	return contentOf(text);
}

export function isEmpty(parsed: Parsed): boolean {
	return typeof parsed === 'string' ? parsed === '' : parsed.blocks.length === 0;
}

/** In the place of all that a tab has. */
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

/** At the end of a tab. Plain text goes on in the last paragraph, as does a plain first paragraph of Markdown. */
export function planEnd(parsed: Parsed, newParagraph: boolean, end: End): Plan {
	if (typeof parsed === 'string') {
		return planText(newParagraph ? `\n${parsed}` : parsed, { ...end, styled: false });
	}
	const first = parsed.blocks[0];
	const plain = first?.kind === 'paragraph' && first.look === 'text' && first.quoteDepth === 0 && !first.list;
	if (!newParagraph && end.lastParagraphEmpty) return planContent(parsed, { ...end, continues: false });
	if (!newParagraph && plain) return planContent(parsed, { ...end, continues: true });
	return planContent(afterParagraph(parsed), { ...end, continues: true });
}

/** The first paragraph is what stands there already. */
function afterParagraph({ blocks, lists }: Content): Content {
	return {
		blocks: [paragraph([]), ...blocks],
		lists: lists.map((list) => ({ ...list, first: list.first + 1, last: list.last + 1 })),
	};
}
