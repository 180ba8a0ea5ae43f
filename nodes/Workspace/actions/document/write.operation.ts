import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { defineOperation } from '../../operation';
import { buildReplaceRequests, planFill } from './replacements';
import { collectTexts, readBodyState } from './tabs';
import { emptyPlan, isEmpty, parseContent, type ParsedContent, planReplacement } from './contentRequests';
import * as fields from './fields';
import {
	carryOutChange,
	carryOutContent,
	buildChange,
	ensureTab,
	repeatIfOutdated,
	recoverResult,
} from './revisionGuard';

export const write = defineOperation({
	value: 'write',
	name: 'Write',
	action: 'Replace content of document',
	description: 'Replace the whole content of a document or of one of its tabs. Headers and footers are kept.',
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
	],
	getChangedId: ({ documentId }) => documentId,
	async execute({ docs }, params, item) {
		const { documentId, tab, requiredRevisionId, fillFromInput } = params;
		const parsed = await parseContent(params, item);
		const replacing = buildReplaceRequests(params.replacements);
		const keepsContent = isEmpty(parsed) && (replacing.length > 0 || fillFromInput);
		if (isEmpty(parsed) && !keepsContent && !params.allowEmpty) {
			throw createRefusal(
				`${quoteField('content')} is empty`,
				`Nothing was written. Check the expression that provides the content, or turn on ${quoteField('allowEmpty')} to clear the document.`,
			);
		}
		if (params.createTab) await ensureTab(docs, params, item);
		const attempt = async () => {
			const body = await readBodyState(docs, documentId, tab, fillFromInput);
			const { tabId, endIndex } = body;
			const base = { ...body, revisionId: requiredRevisionId || body.revisionId };
			const left = collectTexts(body, tab === '', keepsContent ? body.content : []);
			const texts = fillFromInput ? planFill(replacing, left + params.content, item, true) : replacing;
			const tabs = tab === '' ? {} : { tabsCriteria: { tabIds: [tabId] } };
			const after = texts.map(({ replaceAllText }) => ({ replaceAllText: { ...replaceAllText, ...tabs } }));
			if (keepsContent) return await carryOutChange(docs, buildChange(emptyPlan, base, after), item);
			const range = { startIndex: 1, endIndex: endIndex - 1, tabId };
			const wipe = endIndex > 2 ? [{ deleteContentRange: { range } }] : [];
			const planChange = (some: ParsedContent) => buildChange(planReplacement(some, body), base, after, wipe);
			return await carryOutContent(docs, parsed, planChange, item);
		};
		return keepsContent && !requiredRevisionId ? await repeatIfOutdated(attempt, item) : await attempt();
	},
	recover: ({ docs }, _params, failure, item) => recoverResult(docs, failure, item),
	left: ({ documentId, characterCount }) => `${characterCount} characters in document ${documentId}`,
	adviceByStatus: {
		...fields.adviceByStatus,
		400: 'If the document was changed in the meantime, nothing was written. Read it again, then run this again.',
	},
});
