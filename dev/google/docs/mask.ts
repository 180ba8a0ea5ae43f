import { type Mask, readMask } from '../drive/fields.ts';
import { createInvalidError } from './segment.ts';

/** What a document has only once, in place of what each tab has. */
const legacyFields = ['body', 'headers', 'footers', 'footnotes', 'documentStyle', 'lists'];

/**
 * Since May 2026, Google refuses a mask that names a whole tab, whose anchors of comments come only with comments,
 * also in a document with one tab and without comments.
 */
export function checkMask(fields: string): void {
	const mask = readMask(fields);
	const tab = mask.get('tabs');
	if (mask.has('*') || mask.has('comments') || (tab && hasComments(tab)))
		throw createInvalidError(
			'Field mask cannot retrieve comment-specific fields when include_comments is false.',
		);
	if (tab && legacyFields.some((name) => mask.has(name)))
		throw createInvalidError(
			'Field mask cannot retrieve document.tabs and legacy text-level fields from the Document resource in the same request.',
		);
}

function hasComments(tab: Mask): boolean {
	const content = tab.get('documentTab');
	const childTab = tab.get('childTabs');
	if (isWhole(tab) || (childTab && hasComments(childTab))) return true;
	return content !== undefined && (isWhole(content) || content.has('commentAnchors'));
}

const isWhole = (mask: Mask) => mask.size === 0 || mask.has('*');
