import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import type { Elements } from '../../../untrusted/document/elements';
import { defineOperation, type Field, type InferParameters, type Item } from '../../operation';
import { type Content, fitIntoSection, isEmpty, parseContent, planWrite } from './contentRequests';
import { findSection, planPlace } from './contentPlace';
import * as fields from './fields';
import { prepareReplacements, type ReplacementResult, replaceTexts } from './replacements';
import { carryOut, ensureTab, repeatIfOutdated } from './revisionGuard';
import { getStoredText, mentionFirstTab, readBodyState } from './tabs';

const writeFields = [
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
				description: 'All content of a document with one tab, or of its first tab',
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
			'New content in place of the old one. With Replacements, leave it empty to change nothing else.',
	},
	fields.contentFormat,
] as const satisfies readonly Field[];

const writeOptions = [
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
] as const satisfies readonly Field[];

type WriteParams = InferParameters<typeof writeFields, typeof writeOptions>;

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Replace content of document or section',
	description:
		'Replace the section under a heading, a tab or the whole content of a document. Headers and footers are kept.',
	modelDescription: 'Replace content of a Google document.',
	caution: 'Destructive: the previous content is lost.',
	// A second try could find the text that the first try inserted, for example if `aa` replaces `a`.
	isIdempotent: ({ replacements, fillFromInput }) => replacements.length === 0 && !fillFromInput,
	fields: writeFields,
	options: writeOptions,
	getChangedId: ({ documentId }) => documentId,
	prepare: refuseContradictions,
	async send({ docs }, params, item): Promise<ReplacementResult> {
		const { documentId, tab, section, fillFromInput } = params;
		const content = await parseContent(params, item);
		const replacements = await prepareReplacements(params, item);
		const job = { documentId, tab, replacements, fillFromInput };
		const replaceOnce = async () => await replaceTexts(docs, job, item);
		if (isEmpty(content) && changesTexts(params))
			return await repeatIfOutdated(documentId, replaceOnce, item);
		if (isEmpty(content) && !params.allowEmpty)
			throw createRefusal(
				`${quoteField('content')} is empty`,
				"Nothing was written. Check the expression that provides the content. Only an input object with 'allowEmpty': true clears the document.",
			);
		// A new tab has no headings.
		if (params.createTab && section === '') await ensureTab(docs, documentId, tab, item);
		const written = await replaceContent(docs, params, content, item);
		if (!changesTexts(params)) return written;
		// After the content, so that texts are replaced in it, too.
		const replaced = await repeatIfOutdated(documentId, replaceOnce, item);
		return {
			...replaced,
			characterCount: written.characterCount + replaced.characterCount,
		};
	},
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});

const changesTexts = ({ replacements, fillFromInput }: WriteParams) =>
	replacements.length > 0 || fillFromInput;

/** @throws NodeError 400 for parameters that contradict each other */
function refuseContradictions(params: WriteParams): WriteParams {
	if (params.replace === 'tab' && params.tab.trim() === '')
		throw createRefusal(
			`${quoteField('tab')} is empty`,
			'Nothing was written. Choose the tab whose content is replaced.',
		);
	if (params.section !== '' && changesTexts(params))
		throw createRefusal(
			`${quoteField('section')} cannot be used together with ${quoteField('replacements')} or ${quoteField('fillFromInput')}`,
			'Nothing was written. Replacements act on whole tabs. Move them to another Workspace node.',
		);
	return params;
}

/** Replaces a section or a tab. Repeats this if somebody else changes another part of the document meanwhile. */
async function replaceContent(
	docs: docs_v1.Docs,
	{ documentId, tab, section: heading }: WriteParams,
	content: Content,
	item: Item,
) {
	let firstText: string | undefined;
	const replaceOnce = async () => {
		const body = await readBodyState(docs, documentId, tab, 'texts');
		const section = findSection(body, heading);
		const text = getStoredText(section.elements);
		firstText ??= text;
		if (text !== firstText)
			throw createRefusal(
				'Someone else changed the content while it was being replaced',
				'Nothing was written. Check the document before you run this again.',
			);
		mentionFirstTab(body, tab, item);
		const place = planPlace(body, section, 'replace');
		const fittedContent = fitIntoSection(content, section);
		const planChange = (urls: ReadonlySet<string>) => planWrite(fittedContent, place, urls);
		const { characterCount, revisionId } = await carryOut(docs, body, planChange, item);
		mentionRemovedObjects(section.elements, item);
		return { documentId, characterCount, revisionId };
	};
	return await repeatIfOutdated(documentId, replaceOnce, item);
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
