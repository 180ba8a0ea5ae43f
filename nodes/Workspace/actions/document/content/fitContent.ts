import { isSameIgnoringCase, joinLines } from '../../../../core/text';
import { joinSpans } from '../../../../untrusted/document/blocks';
import type { Block, DocumentContent, ParagraphBlock } from '../../../../untrusted/document/blocks';
import { type HeadingLevel, headingLevels } from '../../../../untrusted/document/elements';
import type { DocumentJob } from '../changeDocument';
import type { EditableTab } from '../documentState';
import { findPlace, findSection, type Section } from './contentPlace';

/** Content for a place in a document. */
export interface ContentJob extends DocumentJob {
	readonly section: string;
	readonly content: DocumentContent;
}

/** Finds where to write, and fits the content into the section there. */
export function fitIntoDocument(job: ContentJob, tab: EditableTab, mode: 'append' | 'replace') {
	const section = findSection(tab, job.section);
	const { allTabs, chosenTab } = tab;
	if (job.tab === '' && allTabs.length > 1)
		job.item.addHint(
			`The document has ${allTabs.length} tabs. The content went to the first one: '${chosenTab.title}'.`,
		);
	return {
		oldElements: section.elements,
		place: findPlace(tab.tabId, section, mode),
		content: fitIntoSection(job.content, section),
	};
}

/**
 * Lowers the headings of content to a level below the section's heading, so that all content
 * belongs to the section. Leaves out a first heading with the text of the section's heading if
 * content follows, because the next write would find two such headings.
 */
function fitIntoSection(
	content: DocumentContent,
	{ headingText, level }: Section,
): DocumentContent {
	if (level === 0) return content;
	const [first, ...otherBlocks] = content.blocks;
	const firstText = first && isHeading(first) ? joinSpans(first.spans) : '';
	const isRepeated = isSameIgnoringCase(joinLines(firstText), headingText);
	const blocks = isRepeated && otherBlocks.length > 0 ? otherBlocks : content.blocks;
	return { ...content, blocks: lowerHeadings(blocks, level) };
}

/**
 * Lowers all headings by the same number of levels, so that the highest comes below `level`.
 */
function lowerHeadings(blocks: readonly Block[], level: number): Block[] {
	let shift = 0;
	for (const block of blocks)
		if (isHeading(block)) shift = Math.max(shift, level + 1 - block.format);
	return blocks.map((block) => {
		if (!isHeading(block)) return block;
		const lowered = Math.min(block.format + shift, headingLevels.length);
		// Below a heading of level 6 no level is left, so its headings become text.
		return { ...block, format: lowered > level ? (lowered as HeadingLevel) : 'text' };
	});
}

type Heading = ParagraphBlock & { readonly format: HeadingLevel };
const isHeading = (block: Block): block is Heading =>
	block.kind === 'paragraph' && typeof block.format === 'number';
