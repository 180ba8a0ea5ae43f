import { refusal } from '../../../core/errors';
import { named } from '../../../fields/naming';
import { defineOperation } from '../../operation';
import { readBody } from './bodyState';
import { isEmpty, parse, planWhole } from './content';
import * as fields from './fields';
import { carryOut, changeOf, readBack } from './guarded';

export const write = defineOperation({
	value: 'write',
	methods: {
		'docs.documents.get': 'documents',
		'docs.documents.batchUpdate': 'documents',
	},
	name: 'Write',
	action: 'Replace content of document',
	description: 'Replace the whole content of a document or of one of its tabs. Headers and footers are kept.',
	caution: 'Destructive: the previous content is lost.',
	idempotent: true,
	fields: [
		fields.documentId,
		{
			...fields.content,
			required: true,
			requiredInForm: false,
			mayBeEmpty: true,
			description: 'New content of the document. It replaces all existing content.',
		},
	],
	options: [
		fields.contentFormat,
		fields.tab,
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
	changes: ({ documentId }) => documentId,
	async execute({ docs }, { documentId, content, contentFormat, tab, requiredRevisionId, allowEmpty }, item) {
		const parsed = await parse(content, contentFormat, item);
		if (isEmpty(parsed) && !allowEmpty) {
			throw refusal(
				`${named('content')} is empty`,
				`Nothing was written. Check the expression that provides the content, or turn on ${named('allowEmpty')} to clear the document.`,
			);
		}
		const body = await readBody(docs, documentId, tab);
		const { tabId, endIndex } = body;
		const range = { startIndex: 1, endIndex: endIndex - 1, tabId };
		const wipe = endIndex > 2 ? [{ deleteContentRange: { range } }] : [];
		const revisionId = requiredRevisionId || body.revisionId;
		const change = changeOf(planWhole(parsed, body), { ...body, revisionId }, 1, wipe);
		return await carryOut(docs, change, item);
	},
	recover: ({ docs }, _params, failure, item) => readBack(docs, failure, item),
	errors: {
		400: 'If the document was changed in the meantime, nothing was written. Read it again, then run this again.',
	},
});
