import type { IBuilderHintVariation } from 'n8n-workflow';

const buildPattern = (
	resource: string,
	operations: string[],
	title: string,
	content: string,
): IBuilderHintVariation => ({
	displayOptions: { show: { resource: [resource], operation: operations } },
	content: `<patterns>\n<pattern title="${title}">\n${content}\n</pattern>\n</patterns>`,
});

/**
 * Examples of parameters that work together, which the description of a single parameter cannot
 * show. n8n's AI workflow builder reads them.
 */
export const builderPatterns = [
	buildPattern(
		'mail',
		['list', 'search'],
		'Process each new email once',
		"List with status: 'unread', do the work, and mark as read at the end: a last Workspace node with operation: 'read', messageId: expr('{{ $json.id }}') and afterReading: { markAsRead: true }. To mark before the work instead, set afterReading: { markAsRead: true } here. To archive, set afterReading: { removeLabels: ['INBOX'] }.",
	),
	buildPattern(
		'mail',
		['send'],
		'A model may write, and a person sends',
		"sendAs: 'draft' saves a draft and sends nothing. options: { allowedRecipients: 'example.com' } refuses an email for anybody else, replies and copies included.",
	),
	buildPattern(
		'spreadsheet',
		['write'],
		'Update a row, or add it if it is missing',
		"valuesSource: 'columns', matchColumns: ['id'], columns: { mappingMode: 'defineBelow', value: { id: expr('{{ $json.id }}'), Status: expr('{{ $json.status }}') }, matchingColumns: [], schema: [] }",
	),
	buildPattern(
		'document',
		['create'],
		'A letter or invoice from a template, as a PDF by email',
		"from: 'template', templateId: { __rl: true, mode: 'id', value: '…' }, fillFromInput: true, options: { includeInputFields: true } puts the fields of the input item in place of {{field}}. Then operation: 'read', documentId: { __rl: true, mode: 'id', value: expr('{{ $json.documentId }}') }, format: 'pdf', options: { includeInputFields: true }. Then resource: 'mail', operation: 'send', attachments: '*', options: { idempotencyKey: expr('{{ $json.id }}') }.",
	),
];
