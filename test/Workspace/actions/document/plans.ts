import type { DocumentContent } from '../../../../nodes/untrusted/document/blocks';
import { documentTabsToMarkdown } from '../../../../nodes/untrusted/markdown/documentTabsToMarkdown';
import { markdownToBlocks } from '../../../../nodes/untrusted/markdown/markdownToBlocks';
import { planContent } from '../../../../nodes/Workspace/actions/document/content/contentRequests';
import { fresh, get, service, update } from '../../../google/docsCalls';

/** Plans content in an empty document. */
export const planIn = (content: DocumentContent, changes: object = {}) =>
	planContent(
		content,
		{
			index: 1,
			deletedEnd: 1,
			tabId: 't.0',
			isParagraphEmpty: true,
			keepsStyle: true,
			...changes,
		},
		() => false,
	);

/** Writes Markdown into a new document, which gets the text and the length that the plan says. */
export function writeMarkdown(markdown: string) {
	const id = fresh();
	const content = markdownToBlocks(markdown);
	const plan = planIn(content);
	if (plan.requests.length > 0) update(id, [...plan.requests]);
	expect(service.text(id)).toBe(`${plan.text}\n`);
	expect(get(id).body?.content?.at(-1)?.endIndex).toBe(2 + plan.growth);
	return { id, content, text: plan.text ?? '' };
}

/** The Markdown of a document that was made from Markdown. */
export const throughDocument = (markdown: string) =>
	documentTabsToMarkdown([get(writeMarkdown(markdown).id)]);
