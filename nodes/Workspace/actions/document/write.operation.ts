import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal } from '../../../core/errors';
import { shorten } from '../../../core/text';
import { quoteField } from '../../../fields/field';
import type { DocumentContent } from '../../../untrusted/document/blocks';
import { type Elements, getParagraphs } from '../../../untrusted/document/elements';
import { defineOperation, type Field, type InferParameters, type Item } from '../../operation';
import { fitIntoSection, isEmpty, linkImages, parseContent, planWrite } from './contentRequests';
import { findSection, planPlace } from './contentPlace';
import * as fields from './fields';
import { carryOutContent, buildChange, ensureTab, repeatIfOutdated } from './revisionGuard';
import type { DocumentWriteResult } from './revisionGuard';
import { planMarkdownReplacements } from './placeholders';
import { planTextReplacements, prepareReplacements, type ReplacementPlan } from './replacements';
import { type BodyState, collectText, getStoredText, mentionFirstTab, readBodyState } from './tabs';

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
	async send({ docs }, params, item) {
		const { documentId, tab, section, createTab, fillFromInput, allowEmpty } = params;
		const content = await parseContent(params, item);
		const replacementPlan = await prepareReplacements(params, item);
		const onlyReplaces = isEmpty(content) && (params.replacements.length > 0 || fillFromInput);
		if (isEmpty(content) && !onlyReplaces && !allowEmpty)
			throw createRefusal(
				`${quoteField('content')} is empty`,
				`Nothing was written. Check the expression that provides the content, or turn on ${quoteField('allowEmpty')} to clear the document.`,
			);
		// A new tab has no headings.
		if (createTab && section === '') await ensureTab(docs, documentId, tab, item);
		const job = { params, content, replacementPlan, item };
		if (onlyReplaces)
			return await repeatIfOutdated(documentId, () => replaceTexts(docs, job), item);
		if (section !== '') return await writeSection(docs, job);
		// This is not repeated if somebody else changes the document meanwhile, because it would remove their text.
		return await writeTab(docs, job);
	},
	nameResult: ({ documentId, characterCount }) =>
		`${characterCount} characters in document ${documentId}`,
});

/** @throws NodeError 400 for parameters that contradict each other */
function refuseContradictions(params: WriteParams): WriteParams {
	const { replace, tab, content, section, replacements, fillFromInput } = params;
	if (replace === 'tab' && tab.trim() === '')
		throw createRefusal(
			`${quoteField('tab')} is empty`,
			'Nothing was written. Choose the tab whose content is replaced.',
		);
	if (section !== '' && (replacements.length > 0 || fillFromInput))
		throw createRefusal(
			`${quoteField('section')} cannot be used together with ${quoteField('replacements')} or ${quoteField('fillFromInput')}`,
			'Nothing was written. Replacements act on whole tabs. Move them to another Workspace node.',
		);
	if (content !== '' && replacements.some(({ format }) => format === 'markdown'))
		throw createRefusal(
			`Markdown in ${quoteField('replacements')} cannot be used together with ${quoteField('content')}`,
			'Nothing was written. Replacements change what the document already contains. Add the Markdown to the content, or leave the content empty.',
		);
	return params;
}

interface WriteJob {
	readonly params: WriteParams;
	readonly content: DocumentContent;
	readonly replacementPlan: ReplacementPlan;
	readonly item: Item;
}

/** Replaces texts and leaves everything else as it is. */
async function replaceTexts(docs: docs_v1.Docs, job: WriteJob): Promise<DocumentWriteResult> {
	const { params, replacementPlan, item } = job;
	const { markdownReplacements } = replacementPlan;
	const needsTexts = params.fillFromInput || markdownReplacements.length > 0;
	const detail = needsTexts ? 'texts' : 'outline';
	const body = await readBodyState(docs, params.documentId, params.tab, detail);
	const tabScope = params.tab === '' ? 'allTabs' : 'chosenTab';
	const text = collectText(body, tabScope, body.content);
	const requests = planReplaceRequests(job, body, text);
	return await carryOutContent(docs, item, (refusedUrls) => {
		const plan = planMarkdownReplacements(body, tabScope, markdownReplacements, refusedUrls);
		return buildChange(plan, body, requests);
	});
}

async function writeTab(docs: docs_v1.Docs, job: WriteJob): Promise<DocumentWriteResult> {
	const { documentId, tab, fillFromInput } = job.params;
	const detail = fillFromInput ? 'texts' : 'bodies';
	const body = await readBodyState(docs, documentId, tab, detail);
	mentionFirstTab(body, tab, job.item);
	return await replaceSection(docs, job, body);
}

/** Writes a section. Repeats this if somebody else changes another part of the document meanwhile. */
async function writeSection(docs: docs_v1.Docs, job: WriteJob): Promise<DocumentWriteResult> {
	const { documentId, tab, section } = job.params;
	let firstText: string | undefined;
	const writeOnce = async () => {
		const body = await readBodyState(docs, documentId, tab, 'bodies');
		const text = getStoredText(findSection(body, section).elements);
		firstText ??= text;
		if (text !== firstText)
			throw createRefusal(
				`Someone else changed the section under '${shorten(section)}' while it was being written`,
				'Nothing was written. Check the document before you run this again.',
			);
		mentionFirstTab(body, tab, job.item);
		return await replaceSection(docs, job, body);
	};
	return await repeatIfOutdated(documentId, writeOnce, job.item);
}

async function replaceSection(
	docs: docs_v1.Docs,
	job: WriteJob,
	body: BodyState,
): Promise<DocumentWriteResult> {
	const { params, content, item } = job;
	const section = findSection(body, params.section);
	const fittedContent = fitIntoSection(content, section);
	const place = planPlace(body, section, 'replace');
	// Placeholders are replaced after the write: in the text that stays, and in the new content as it was entered.
	const tabScope = params.tab === '' ? 'allTabs' : 'chosenTab';
	const text = collectText(body, tabScope, []) + params.content;
	const requests = planReplaceRequests(job, body, text);
	const result = await carryOutContent(docs, item, (refusedUrls) =>
		buildChange(planWrite(linkImages(fittedContent, refusedUrls), place), body, requests),
	);
	mentionRemovedObjects(section.elements, item);
	return result;
}

/** Plans the replacements with plain text. With a tab, they act only there. */
function planReplaceRequests(
	{ params, replacementPlan, item }: WriteJob,
	body: BodyState,
	text: string,
) {
	const { fillFromInput, tab } = params;
	const requests = fillFromInput
		? planTextReplacements(replacementPlan, text, item, { fillFromInput })
		: replacementPlan.textRequests;
	if (tab === '') return requests;
	const tabsCriteria = { tabIds: [body.tabId] };
	return requests.map(({ replaceAllText }) => ({
		replaceAllText: { ...replaceAllText, tabsCriteria },
	}));
}

/** What a paragraph may hold beside text that new content does not bring back, by Google's name. */
const objectNames = {
	footnoteReference: 'footnote',
	inlineObjectElement: 'picture',
	pageBreak: 'page break',
	columnBreak: 'column break',
	equation: 'equation',
} as const;

/** Adds a hint that names what a replacement of these elements removed beside text. */
function mentionRemovedObjects(elements: Elements, item: Item): void {
	const counts = new Map<string, number>();
	for (const name of listObjects(elements)) counts.set(name, (counts.get(name) ?? 0) + 1);
	if (counts.size === 0) return;
	const parts = Array.from(
		counts,
		([name, count]) => `${count} ${name}${count === 1 ? '' : 's'}`,
	);
	item.addHint(
		`The replaced content also had ${parts.join(', ')}. To get them back, use the version history of the document.`,
	);
}

function listObjects(elements: Elements): string[] {
	const names: string[] = [];
	// The break before the first paragraph of a tab has no index, and stays.
	for (const { sectionBreak, startIndex } of elements)
		if (sectionBreak && startIndex) names.push('section break');
	for (const { elements: paragraphElements = [], positionedObjectIds } of getParagraphs(
		elements,
	)) {
		for (const element of paragraphElements)
			for (const [key, name] of Object.entries(objectNames))
				if (key in element) names.push(name);
		names.push(...(positionedObjectIds ?? []).map(() => 'picture'));
	}
	return names;
}
