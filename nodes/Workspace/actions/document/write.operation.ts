import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { createRefusal, shorten } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { defineOperation, type Item } from '../../operation';
import {
	type FilterContent,
	isEmpty,
	lowerHeadings,
	parseContent,
	type ParsedContent,
	planReplacement,
} from './contentRequests';
import { findSection, planPlace, refuseWithSection } from './contentPlace';
import * as fields from './fields';
import { carryOutContent, buildChange, ensureTab, repeatIfOutdated, recoverResult } from './revisionGuard';
import { planContentReplacements } from './placeholders';
import { planFill, prepareReplacements, type Replacements } from './replacements';
import { collectTexts, getStoredText, readBodyState } from './tabs';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Replace content of document',
	description:
		'Replace the whole content of a document, of one of its tabs or of the section under a heading. Headers and footers are kept.',
	caution: 'Destructive: the previous content is lost.',
	// Replacements may find what they put in the first time: `a` by `aa`.
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
		fields.createTab,
		fields.fillFromInput,
		fields.insertImages,
		fields.replacements,
		{
			displayName: 'Required Revision ID',
			name: 'requiredRevisionId',
			type: 'string',
			default: '',
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
	check({ content, section, replacements, fillFromInput }) {
		if (section !== '' && (replacements.length > 0 || fillFromInput)) refuseWithSection();
		if (content === '' || replacements.every(({ format }) => format === 'text')) return;
		throw createRefusal(
			`Markdown in ${quoteField('replacements')} does not go with ${quoteField('content')}`,
			'Nothing was written. It takes the place of what the document has already: put it into the content itself, or leave the content empty.',
		);
	},
	async execute({ docs }, params, item) {
		const parsed = await parseContent(params, item);
		const replacing = await prepareReplacements(params, item);
		const keepsContent = isEmpty(parsed) && (params.replacements.length > 0 || params.fillFromInput);
		if (isEmpty(parsed) && !keepsContent && !params.allowEmpty) {
			throw createRefusal(
				`${quoteField('content')} is empty`,
				`Nothing was written. Check the expression that provides the content, or turn on ${quoteField('allowEmpty')} to clear the document.`,
			);
		}
		// A new tab has no headings.
		if (params.createTab && params.section === '') await ensureTab(docs, params, item);
		if (params.section !== '') return await writeSection(docs, params, parsed, item);
		const attempt = async () => await writeTab(docs, { ...params, parsed, replacing, keepsContent }, item);
		return keepsContent && !params.requiredRevisionId
			? await repeatIfOutdated(attempt, item)
			: await attempt();
	},
	recover: ({ docs }, _params, failure, item) => recoverResult(docs, failure, item),
	left: ({ documentId, characterCount }) => `${characterCount} characters in document ${documentId}`,
	adviceByStatus: fields.adviceByStatus,
});

interface TabChange {
	readonly documentId: string;
	/** ID or title; empty for the first one, and for replacements in all of them. */
	readonly tab: string;
	readonly content: string;
	readonly requiredRevisionId: string;
	readonly fillFromInput: boolean;
	readonly parsed: ParsedContent;
	readonly replacing: Replacements;
	/** Whether only the replacements are made. */
	readonly keepsContent: boolean;
}

async function writeTab(docs: docs_v1.Docs, change: TabChange, item: Item) {
	const { documentId, tab, requiredRevisionId, fillFromInput, parsed, replacing, keepsContent } = change;
	const isRead = fillFromInput || replacing.contents.length > 0;
	const body = await readBodyState(docs, documentId, tab, isRead ? 'texts' : 'outline');
	const base = { ...body, revisionId: requiredRevisionId || body.revisionId };
	const left = collectTexts(body, tab === '', keepsContent ? body.content : []);
	const texts = fillFromInput ? planFill(replacing, left + change.content, item, true) : replacing.texts;
	const tabs = tab === '' ? {} : { tabsCriteria: { tabIds: [body.tabId] } };
	const after = texts.map(({ replaceAllText }) => ({ replaceAllText: { ...replaceAllText, ...tabs } }));
	const place = planPlace(body, findSection(body, ''), true);
	const planChange = (withPictures: FilterContent) =>
		buildChange(
			keepsContent
				? planContentReplacements(body, tab === '', replacing.contents, withPictures)
				: planReplacement(withPictures(parsed), place),
			base,
			after,
		);
	return await carryOutContent(docs, planChange, item);
}

/** Replaces what stands under a heading. If the document changes meanwhile, it is done in the newer one, unless that section changed. */
async function writeSection(
	docs: docs_v1.Docs,
	{
		documentId,
		tab,
		section: heading,
		requiredRevisionId,
	}: Omit<TabChange, 'parsed' | 'replacing' | 'keepsContent'> & { readonly section: string },
	parsed: ParsedContent,
	item: Item,
) {
	let first: string | undefined;
	const attempt = async () => {
		const body = await readBodyState(docs, documentId, tab, 'bodies');
		const section = findSection(body, heading);
		const text = getStoredText(section.elements);
		if (text !== (first ??= text)) {
			throw createRefusal(
				`Someone else changed the section under '${shorten(heading)}' while it was being written`,
				'Nothing was written. Check the document before you run this again.',
			);
		}
		const base = { ...body, revisionId: requiredRevisionId || body.revisionId };
		const place = planPlace(body, section, true);
		const lowered = lowerHeadings(parsed, section.level);
		const planChange = (withPictures: FilterContent) =>
			buildChange(planReplacement(withPictures(lowered), place), base, []);
		return await carryOutContent(docs, planChange, item);
	};
	return requiredRevisionId ? await attempt() : await repeatIfOutdated(attempt, item);
}
