import type { GoogleServer } from '../../dev/google/server.ts';
import type { Credentials } from './credentials';
import { node } from './startTestN8n';

/** A parameter that the model fills in, as the editor's button writes it. */
export const fromModel = (key: string, type = 'string') =>
	`={{ $fromAI('${key}', \`\`, '${type}') }}`;

const byId = (key: string) => ({ __rl: true, mode: 'id', value: fromModel(key) });
const rows = { valuesSource: 'json', values: fromModel('Values', 'json') };
const spreadsheet = { resource: 'spreadsheet', spreadsheetId: byId('Spreadsheet') };
const content = { content: fromModel('Content'), contentFormat: 'markdown' };
const document = { resource: 'document', documentId: byId('Document') };
/** Options that get what did not fit into an answer. */
const nextPage = { options: { pageToken: fromModel('Page_Token') } };
const nextPart = { options: { startCharacter: fromModel('Start_Character', 'number') } };
const inRange = { options: { range: fromModel('Range') } };
const nextRows = {
	options: { range: fromModel('Range'), startRow: fromModel('Start_Row', 'number') },
};

/** Each operation as a tool: what the model fills in, and what stands fixed. */
export const toolParameters: Readonly<Record<string, Record<string, unknown>>> = {
	'Send email': {
		resource: 'mail',
		operation: 'send',
		to: fromModel('To'),
		subject: fromModel('Subject'),
		body: fromModel('Body'),
	},
	'List emails': { resource: 'mail', operation: 'list', from: fromModel('From'), ...nextPage },
	'Search emails': {
		resource: 'mail',
		operation: 'search',
		query: fromModel('Query'),
		...nextPage,
	},
	'Read email': {
		resource: 'mail',
		operation: 'read',
		messageId: fromModel('Message_ID'),
		...nextPart,
	},
	'Create spreadsheet': {
		resource: 'spreadsheet',
		operation: 'create',
		title: fromModel('Title'),
	},
	'Read rows': { ...spreadsheet, operation: 'read', ...nextRows },
	'Write rows': {
		...spreadsheet,
		operation: 'write',
		writeMode: 'overwrite',
		...rows,
		...inRange,
	},
	'Append rows': { ...spreadsheet, operation: 'append', ...rows, ...inRange },
	'Create document': {
		resource: 'document',
		operation: 'create',
		title: fromModel('Title'),
		...content,
	},
	'Read document': { ...document, operation: 'read', ...nextPart },
	'Write document': {
		...document,
		operation: 'write',
		section: { __rl: true, mode: 'name', value: fromModel('Section') },
		...content,
	},
	'Append to document': {
		...document,
		operation: 'append',
		...content,
		options: { underHeading: fromModel('Section') },
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
	{ tool: 'Read_email', args: ({ mail }) => ({ Message_ID: mail, Start_Character: 0 }) },
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
		args: ({ spreadsheet }) => ({
			Spreadsheet: spreadsheet,
			Range: 'Sheet1!A:A',
			Values: [['Bob']],
		}),
	},
	{
		tool: 'Read_rows',
		args: ({ spreadsheet }) => ({
			Spreadsheet: spreadsheet,
			Range: 'Sheet1!A:A',
			Start_Row: 0,
		}),
	},
	{
		tool: 'Create_document',
		args: () => ({ Title: 'Notes', Content: '# Plan\n\nOld' }),
		gives: ['document', 'documentId'],
	},
	{
		tool: 'Write_document',
		args: ({ document }) => ({ Document: document, Content: 'First', Section: 'Plan' }),
	},
	{
		tool: 'Append_to_document',
		args: ({ document }) => ({ Document: document, Content: 'Second', Section: 'Plan' }),
	},
	{ tool: 'Read_document', args: ({ document }) => ({ Document: document, Start_Character: 0 }) },
	{ tool: 'Upload_file', args: () => ({ File_Name: 'note.txt', Content: 'By a model' }) },
];

export function toolNodes(credentials: Credentials) {
	return Object.entries(toolParameters).map(([name, parameters]) =>
		toolNode(name, parameters, credentials),
	);
}

export function toolNode(
	name: string,
	parameters: Record<string, unknown>,
	credentials: Credentials,
) {
	return node(name, 'n8n-nodes-agent-workspace.workspaceTool', parameters, { credentials });
}

/** The first value of a key in a tool's answer, whatever the answer is wrapped in. */
export function valueIn(answer: string, key: string): string {
	return new RegExp(String.raw`\\*"${key}\\*":\s*\\*"([^"\\]+)`).exec(answer)?.[1] ?? '';
}

const longTableRows = 1000;

/** A table that does not fit into one answer. @returns the first call that reads it */
export function seedLongTable({ sheets }: GoogleServer) {
	const rows = Array.from({ length: longTableRows }, (_, at) => [
		`Guest ${at}`,
		'Vegetarian, by train. '.repeat(4),
	]);
	const tabs = [
		{ title: 'Sheet1', rows: [['Name', 'Remarks'], ...rows], rowCount: longTableRows + 1 },
	];
	const Spreadsheet = sheets.seed({ title: 'Guests', tabs });
	return { tool: 'Read_rows', args: { Spreadsheet, Range: '', Start_Row: 0 } };
}

/** The call that an answer asks for, as a model reads it; undefined after the last part. */
export function findNextCall(first: ReturnType<typeof seedLongTable>, answer = '') {
	const [, next] = /To get the next ones, call again with 'Start Row': (\d+)/.exec(answer) ?? [];
	return next === undefined
		? undefined
		: { ...first, args: { ...first.args, Start_Row: Number(next) } };
}

/** Each answer fits into a model's context, and together they have each row once. */
export function expectWholeTable(answers: readonly string[]): void {
	expect(answers.length).toBeGreaterThan(3);
	for (const answer of answers)
		expect(answer.replaceAll('\\"', '"').length).toBeLessThanOrEqual(30_500);
	const numbers = answers.flatMap((answer) =>
		[...answer.matchAll(/\[(\d+),\\*"Guest/g)].map(([, number]) => Number(number)),
	);
	expect(numbers).toEqual(Array.from({ length: longTableRows }, (_, at) => at + 2));
}
