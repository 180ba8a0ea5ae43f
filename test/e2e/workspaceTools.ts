import { node } from './startTestN8n';

/** A parameter that the model fills in, as the editor's button writes it. */
export const fromModel = (key: string, type = 'string') => `={{ $fromAI('${key}', \`\`, '${type}') }}`;

const byId = (key: string) => ({ __rl: true, mode: 'id', value: fromModel(key) });
const rows = { valuesSource: 'json', values: fromModel('Values', 'json') };
const spreadsheet = { resource: 'spreadsheet', spreadsheetId: byId('Spreadsheet') };
const pages = { options: { pageToken: fromModel('Page_Token') } };
const content = { content: fromModel('Content'), contentFormat: 'markdown' };
const document = { resource: 'document', documentId: byId('Document') };

/** Each operation as a tool: what the model fills in, and what stands fixed. */
export const toolParameters: Readonly<Record<string, Record<string, unknown>>> = {
	'Send email': {
		resource: 'mail',
		operation: 'send',
		to: fromModel('To'),
		subject: fromModel('Subject'),
		body: fromModel('Body'),
	},
	'List emails': { resource: 'mail', operation: 'list', from: fromModel('From'), ...pages },
	'Search emails': { resource: 'mail', operation: 'search', query: fromModel('Query'), ...pages },
	'Read email': { resource: 'mail', operation: 'read', messageId: fromModel('Message_ID') },
	'Create spreadsheet': { resource: 'spreadsheet', operation: 'create', title: fromModel('Title') },
	'Read rows': {
		...spreadsheet,
		operation: 'read',
		range: fromModel('Range'),
		options: { startRow: fromModel('Start_Row', 'number') },
	},
	'Write rows': { ...spreadsheet, operation: 'write', range: fromModel('Range'), ...rows },
	'Append rows': { ...spreadsheet, operation: 'append', range: fromModel('Range'), ...rows },
	'Create document': { resource: 'document', operation: 'create', title: fromModel('Title'), ...content },
	'Read document': {
		...document,
		operation: 'read',
		options: { contentFormat: 'markdown', startCharacter: fromModel('Start_Character', 'number') },
	},
	'Write document': {
		...document,
		operation: 'write',
		...content,
		options: { section: fromModel('Section') },
	},
	'Append to document': {
		...document,
		operation: 'append',
		...content,
		options: { underHeading: fromModel('Under_Heading') },
	},
	'Upload file': {
		resource: 'file',
		operation: 'upload',
		name: fromModel('File_Name'),
		contentSource: 'text',
		content: fromModel('Content'),
	},
};

export interface ToolCall {
	readonly tool: string;
	readonly args: (ids: Readonly<Record<string, string>>) => Record<string, unknown>;
	/** Under which name the answer's id is known to later calls. */
	readonly gives?: readonly [name: string, key: string];
}

/** One call of every tool, in an order in which each finds what it needs. */
export const everyTool: readonly ToolCall[] = [
	{
		tool: 'Send_email',
		args: () => ({ To: 'ann@example.com', Subject: 'Hi', Body: 'By a model' }),
		gives: ['mail', 'id'],
	},
	{ tool: 'List_emails', args: () => ({ From: '', Page_Token: '' }) },
	{ tool: 'Search_emails', args: () => ({ Query: 'subject:Hi', Page_Token: '' }) },
	{ tool: 'Read_email', args: ({ mail }) => ({ Message_ID: mail }) },
	{
		tool: 'Create_spreadsheet',
		args: () => ({ Title: 'Guests' }),
		gives: ['spreadsheet', 'spreadsheetId'],
	},
	{
		tool: 'Write_rows',
		args: ({ spreadsheet }) => ({
			Spreadsheet: spreadsheet,
			Range: 'Sheet1!A1',
			Values: [['name'], ['Ann']],
		}),
	},
	{
		tool: 'Append_rows',
		args: ({ spreadsheet }) => ({ Spreadsheet: spreadsheet, Range: 'Sheet1!A:A', Values: [['Bob']] }),
	},
	{
		tool: 'Read_rows',
		args: ({ spreadsheet }) => ({ Spreadsheet: spreadsheet, Range: 'Sheet1!A:A', Start_Row: 0 }),
	},
	{
		tool: 'Create_document',
		args: () => ({ Title: 'Notes', Content: '# Plan\n\nOld' }),
		gives: ['document', 'documentId'],
	},
	{
		tool: 'Write_document',
		args: ({ document }) => ({ Document: document, Content: '# First', Section: '' }),
	},
	{
		tool: 'Append_to_document',
		args: ({ document }) => ({ Document: document, Content: 'Second', Under_Heading: 'First' }),
	},
	{ tool: 'Read_document', args: ({ document }) => ({ Document: document, Start_Character: 0 }) },
	{ tool: 'Upload_file', args: () => ({ File_Name: 'note.txt', Content: 'By a model' }) },
];

export function toolNodes(credential: object) {
	return Object.entries(toolParameters).map(([name, parameters]) => toolNode(name, parameters, credential));
}

export function toolNode(name: string, parameters: Record<string, unknown>, credential: object) {
	return node(name, 'n8n-nodes-agent-workspace.workspaceTool', parameters, {
		credentials: { workspaceOAuth2Api: credential },
	});
}

/** Tools hang below the node that calls them. */
export function asTools(names: readonly string[], caller: string): Record<string, unknown> {
	return Object.fromEntries(
		names.map((name) => [name, { ai_tool: [[{ node: caller, type: 'ai_tool', index: 0 }]] }]),
	);
}

/** The first value of a key in a tool's answer, whatever the answer is wrapped in. */
export function valueIn(answer: string, key: string): string {
	return new RegExp(String.raw`\\*"${key}\\*":\s*\\*"([^"\\]+)`).exec(answer)?.[1] ?? '';
}
