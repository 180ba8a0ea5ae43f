import type { IBuilderHintVariation } from 'n8n-workflow';

interface Pattern {
	readonly resource: string;
	readonly operations: readonly string[];
	readonly title: string;
	readonly content: string;
}

/** How parameters work together, which the description of a single one does not say. */
const patterns: readonly Pattern[] = [
	{
		resource: 'mail',
		operations: ['list', 'search'],
		title: 'Process each new email once',
		content:
			"List with status: 'unread', do the work, and mark as read at the end: a last Workspace node with operation: 'read', messageId: expr('{{ $json.id }}') and options: { markAsRead: true }. To mark before the work instead, set options: { markAsRead: true } here. To archive, set options: { removeLabels: ['INBOX'] }.",
	},
	{
		resource: 'mail',
		operations: ['send'],
		title: 'A model may write, and a person sends',
		content:
			"sendAs: 'draft' saves a draft and sends nothing. allowedRecipients: 'example.com' refuses an email for anybody else, replies and copies included.",
	},
	{
		resource: 'spreadsheet',
		operations: ['write'],
		title: 'Update a row, or add it if it is missing',
		content:
			"valuesSource: 'columns', matchColumns: ['id'], columns: { mappingMode: 'defineBelow', value: { id: expr('{{ $json.id }}'), Status: expr('{{ $json.status }}') }, matchingColumns: [], schema: [] }",
	},
	{
		resource: 'document',
		operations: ['create'],
		title: 'A letter or invoice from a template, as a PDF by email',
		content:
			"options: { templateId: { __rl: true, mode: 'id', value: '…' }, fillFromInput: true, includeInputFields: true } puts the fields of the input item in place of {{field}}. Then operation: 'read', documentId: { __rl: true, mode: 'id', value: expr('{{ $json.documentId }}') }, options: { output: 'file', fileFormat: 'pdf', includeInputFields: true }. Then resource: 'mail', operation: 'send', options: { attachments: '*', idempotencyKey: expr('{{ $json.id }}') }.",
	},
];

export const builderPatterns: IBuilderHintVariation[] = patterns.map(
	({ resource, operations, title, content }) => ({
		displayOptions: { show: { resource: [resource], operation: [...operations] } },
		content: `<patterns>\n<pattern title="${title}">\n${content}\n</pattern>\n</patterns>`,
	}),
);
