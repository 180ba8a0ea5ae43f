import { createRefusal, isNodeError } from '../../../core/errors';
import { joinSentences } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { Elements } from '../../../untrusted/document/elements';
import { defineOperation, type Item } from '../../operation';
import { changeDocument, nameWrittenText } from './changeDocument';
import { planContent } from './content/contentRequests';
import { type ContentJob, fitIntoDocument } from './content/fitContent';
import { isEmpty, parseContent } from './content/parseContent';
import { getStoredText } from './documentState';
import * as fields from './fields';
import {
	changesTexts,
	prepareReplacements,
	type ReplacementResult,
	replaceTexts,
} from './replacements';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Replace content of document or section',
	description:
		'Replace the section under a heading, a tab or the whole content of a document. Headers and footers are kept.',
	modelDescription: 'Replace content of a Google document.',
	caution: 'Destructive: the previous content is lost.',
	// A second try could find the text that the first try inserted, for example if `aa` replaces
	// `a`.
	isIdempotent: (params) => !changesTexts(params),
	fields: [
		fields.documentId,
		{
			displayName: 'Replace',
			name: 'replace',
			type: 'options',
			onlyIn: 'fields',
			options: [
				{
					name: 'Section',
					value: 'section',
					description: 'What stands under a heading. The heading stays.',
				},
				{ name: 'Tab', value: 'tab', description: 'All content of a tab' },
				{
					name: 'Document',
					value: 'document',
					description:
						'All content of the tab in the URL of the document, or else of its first tab',
				},
			],
			default: 'section',
			jsonDefault: 'document',
			description: 'What the new content takes the place of',
		},
		{
			...fields.section,
			required: true,
			requiredInForm: false,
			showWhen: { replace: ['section'] },
			description:
				'The heading of the section. What stands under it is replaced, up to the next heading of the same or a higher level. Headings in the content become lower ones.',
		},
		{ ...fields.tab, showWhen: { replace: ['section', 'tab'] } },
		{
			...fields.content,
			required: true,
			requiredInForm: false,
			requiredUnless: ['replacements', 'fillFromInput'],
			mayBeEmpty: true,
			description:
				'New content in place of the old one. To change only the texts of Replacements, in all tabs, set Replace to Document and leave this empty.',
		},
		fields.contentFormat,
	],
	options: [
		{
			displayName: 'Allow Empty Content',
			name: 'allowEmpty',
			onlyIn: 'json',
			type: 'boolean',
			default: false,
			description: 'Whether empty content is allowed to clear what it replaces',
		},
		fields.createTabOption,
		fields.fillFromInputOption,
		fields.insertImagesOption,
		fields.replacements,
	],
	getChangedId: ({ documentId }) => documentId,
	prepare(params) {
		if (params.replace === 'tab' && params.tab.trim() === '')
			throw createRefusal(
				`${quoteField('tab')} is empty`,
				'Nothing was written. Choose the tab whose content is replaced.',
			);
		if (changesTexts(params) && params.section !== '')
			throw createRefusal(
				`${quoteField('section')} cannot be used together with ${quoteField('replacements')} or ${quoteField('fillFromInput')}`,
				'Nothing was written. Replacements act on whole tabs. Move them to another Workspace node.',
			);
		return params;
	},
	async send({ docs }, params, item): Promise<ReplacementResult> {
		const content = await parseContent(params, item);
		const replacements = await prepareReplacements(params, item);
		const job = { ...params, docs, item, content, replacements };
		if (isEmpty(content) && changesTexts(params)) return await replaceTexts(job);
		if (isEmpty(content) && !params.allowEmpty)
			throw createRefusal(
				`${quoteField('content')} is empty`,
				"Nothing was written. Check the expression that provides the content. Only an input object with 'allowEmpty': true clears the document.",
			);
		const written = await replaceContent(job);
		if (!changesTexts(params)) return written;
		// After the content, so that texts are replaced in it, too.
		const replaced = await replaceTexts(job).catch(throwHalfDone);
		const characterCount = written.characterCount + replaced.characterCount;
		return { ...replaced, characterCount };
	},
	nameResult: (result) => nameWrittenText(result),
});

/** Throws the failure to replace texts, for a document whose content was replaced before. */
function throwHalfDone(error: unknown): never {
	if (!isNodeError(error) || error.outcome !== 'notDone') throw error;
	throw error.with({
		message: `The content was replaced, but no texts in it: ${error.message}`,
		description: joinSentences(
			error.description,
			`To replace only the texts, leave ${quoteField('content')} empty.`,
		),
	});
}

/** Replaces a section or a tab, unless somebody else changes it meanwhile. */
async function replaceContent(job: ContentJob) {
	let firstText: string | undefined;
	const { change, result } = await changeDocument({
		...job,
		detail: 'texts',
		plan(tab, isPicture) {
			const fitted = fitIntoDocument(job, tab, 'replace');
			const oldText = getStoredText(fitted.oldElements);
			firstText ??= oldText;
			if (oldText !== firstText)
				throw createRefusal(
					'Someone else changed the content while it was being replaced',
					'Nothing was written. Check the document before you run this again.',
				);
			return { ...fitted, ...planContent(fitted.content, fitted.place, isPicture) };
		},
	});
	mentionRemovedObjects(change.oldElements, job.item);
	return result;
}

/** What new content does not bring back, by Google's name. */
const objectNames = {
	footnoteReference: 'footnotes',
	inlineObjectElement: 'pictures',
	positionedObjectIds: 'floating pictures',
	pageBreak: 'page breaks',
	columnBreak: 'column breaks',
	sectionBreak: 'section breaks',
	equation: 'equations',
} as const;

/** Adds a hint that names what a replacement of these elements removed beside text. */
function mentionRemovedObjects(content: Elements, item: Item): void {
	// The break before the first paragraph of a tab has no index, and stays.
	const json = JSON.stringify(content.filter(({ startIndex }) => startIndex));
	// In JSON, quotes in a text have backslashes, so only a property looks like this.
	const found = Object.entries(objectNames).filter(([key]) => json.includes(`"${key}":`));
	if (found.length === 0) return;
	const names = found.map(([, name]) => name).join(', ');
	item.addHint(
		`The replaced content also had ${names}. To get them back, use the version history of the document.`,
	);
}
