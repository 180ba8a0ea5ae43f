import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField, textType } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { fitIntoSection, isEmpty, linkImages, parseContent, planWrite } from './contentRequests';
import { findSection, planPlace } from './contentPlace';
import * as fields from './fields';
import {
	carryOutContent,
	buildChange,
	ensureTab,
	repeatIfOutdated,
	recoverResult,
} from './revisionGuard';
import { planMarkdownReplacements } from './placeholders';
import { planTextReplacements, prepareReplacements } from './replacements';
import { collectText, getStoredText, mentionFirstTab, readBodyState } from './tabs';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Replace content of document or section',
	description:
		'Replace the whole content of a document, of one of its tabs or of the section under a heading. Headers and footers are kept.',
	modelDescription: 'Replace content of a Google document.',
	caution: 'Destructive: the previous content is lost.',
	// A second try could find the text that the first try inserted, for example if `aa` replaces `a`.
	isIdempotent: ({ replacements, fillFromInput }) => replacements.length === 0 && !fillFromInput,
	fields: [
		fields.documentId,
		{
			...fields.content,
			required: true,
			requiredInForm: false,
			requiredUnless: ['replacements', 'fillFromInput'],
			mayBeEmpty: true,
			description:
				'New content of the document. It replaces all existing content. With Replacements, leave it empty to change nothing else.',
		},
		fields.contentFormat,
	],
	options: [
		fields.tab,
		fields.createTabOption,
		fields.fillFromInputOption,
		fields.insertImagesOption,
		fields.replacements,
		{
			displayName: 'Required Revision ID',
			name: 'requiredRevisionId',
			...textType,
			description:
				'Write only if the document still has this revision, as returned by an earlier Read. Leave empty to use the revision at the start of this operation.',
		},
		{
			displayName: 'Allow Empty Content',
			name: 'allowEmpty',
			type: 'boolean',
			default: false,
			description: 'Whether empty content is allowed to clear the document',
		},
		fields.section,
	],
	getChangedId: ({ documentId }) => documentId,
	prepare(params) {
		const { content, section, replacements, fillFromInput } = params;
		if (section !== '' && (replacements.length > 0 || fillFromInput))
			throw createRefusal(
				`${quoteField('section')} cannot be used together with ${quoteField('replacements')} or ${quoteField('fillFromInput')}`,
				'Nothing was written. Replacements act on whole tabs. Move them to another Workspace node.',
			);
		if (content === '' || replacements.every(({ format }) => format === 'text')) return params;
		throw createRefusal(
			`Markdown in ${quoteField('replacements')} cannot be used together with ${quoteField('content')}`,
			'Nothing was written. Replacements change what the document already contains. Add the Markdown to the content, or leave the content empty.',
		);
	},
	async send({ docs }, params, item) {
		const {
			documentId,
			content,
			tab,
			requiredRevisionId,
			fillFromInput,
			section: heading,
		} = params;
		const parsedContent = await parseContent(params, item);
		const replacementPlan = await prepareReplacements(params, item);
		const keepsContent =
			isEmpty(parsedContent) && (params.replacements.length > 0 || fillFromInput);
		if (isEmpty(parsedContent) && !keepsContent && !params.allowEmpty)
			throw createRefusal(
				`${quoteField('content')} is empty`,
				`Nothing was written. Check the expression that provides the content, or turn on ${quoteField('allowEmpty')} to clear the document.`,
			);
		// A new tab has no headings.
		if (params.createTab && heading === '') await ensureTab(docs, documentId, tab, item);
		const needsTexts = fillFromInput || replacementPlan.markdownReplacements.length > 0;
		const detail = needsTexts ? 'texts' : heading === '' ? 'outline' : 'bodies';
		let firstSectionText: string | undefined; // If the section's text changes later, the next attempt refuses to write.
		const readSection = async () => {
			const body = await readBodyState(docs, documentId, tab, detail);
			const section = findSection(body, heading);
			const sectionText = getStoredText(section.elements);
			firstSectionText ??= sectionText;
			if (heading !== '' && sectionText !== firstSectionText)
				throw createRefusal(
					`Someone else changed the section under '${shorten(heading)}' while it was being written`,
					'Nothing was written. Check the document before you run this again.',
				);
			return { body, section };
		};
		const attemptWrite = async () => {
			const { body, section } = await readSection();
			if (!keepsContent) mentionFirstTab(body, tab, item);
			const tabScope = tab === '' ? 'allTabs' : 'chosenTab';
			// Placeholders are replaced after the write: in the text that stays, and in the new content as it was entered.
			const remainingText = collectText(body, tabScope, keepsContent ? body.content : []);
			const textRequests = fillFromInput
				? planTextReplacements(replacementPlan, remainingText + content, item, {
						fillFromInput,
					})
				: replacementPlan.textRequests;
			const requestsAfter = textRequests.map(({ replaceAllText }) => ({
				replaceAllText: {
					...replaceAllText,
					...(tab !== '' && { tabsCriteria: { tabIds: [body.tabId] } }),
				},
			}));
			const revisionId = requiredRevisionId || body.revisionId;
			const fittedContent = fitIntoSection(parsedContent, section);
			return await carryOutContent(docs, item, (refusedUrls) => {
				const plan = keepsContent
					? planMarkdownReplacements(
							body,
							tabScope,
							replacementPlan.markdownReplacements,
							refusedUrls,
						)
					: planWrite(
							linkImages(fittedContent, refusedUrls),
							planPlace(body, section, 'replace'),
						);
				return buildChange(plan, { ...body, revisionId }, requestsAfter);
			});
		};
		// Repeats only changes that leave the text of others alone. A write of the whole content would overwrite that text.
		const isRepeatable = (keepsContent || heading !== '') && !requiredRevisionId;
		return isRepeatable ? await repeatIfOutdated(attemptWrite, item) : await attemptWrite();
	},
	recover: ({ docs }, _params, failure, item) => recoverResult(docs, failure, item),
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});
