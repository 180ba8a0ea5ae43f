import type { NodeItem } from '../n8n/n8nApi.ts';
import type { LiveSettings } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

/** Something in the user's account that the test has made. */
export interface Made {
	readonly what: string;
	readonly address: string;
}

/** One node, run in a workflow of its own. */
export interface Step {
	readonly name: string;
	readonly type: 'agentExecute' | 'workspace';
	/** Names of what earlier steps learned. */
	readonly needs: readonly string[];
	readonly input?: object;
	readonly parameters: (known: Json) => Record<string, unknown>;
	/** @returns what is wrong about the output */
	readonly check?: (output: readonly Json[], known: Json) => string | undefined;
	readonly learns?: (output: readonly NodeItem[]) => Json;
	readonly made?: (output: readonly NodeItem[]) => Made[];
}

export function agentSteps({ startStepName = 'start', task = 'Say hello.' }: LiveSettings): Step[] {
	const step = (name: string, more: Record<string, unknown>, check: Step['check']): Step => ({
		name,
		type: 'agentExecute',
		needs: [],
		parameters: () => ({ startStepName, task, ...more }),
		check,
	});
	const waits = {
		waitForMessages: true,
		waitUntil: 'count',
		messageCount: 1,
		waitTimeoutSeconds: 60,
	};
	return [
		step('Agent Execute', {}, ([json]) =>
			json?.statusCode === undefined ? 'there is no status in the output' : undefined,
		),
		step('Agent Execute with Wait for Messages', waits, ([json]) =>
			Array.isArray(json?.messages) && json.messages.length > 0
				? undefined
				: 'no message arrived within 60 s',
		),
	];
}

const first = (output: readonly NodeItem[]): Json => output[0]?.json ?? {};
const byId = (value: unknown) => ({ __rl: true, mode: 'id', value });
const content = 'One line\n\nAnother **line**';

const file =
	(what: string, key: string, address: (id: string) => string) =>
	(output: readonly NodeItem[]) => [{ what, address: address(String(first(output)[key])) }];

/** The 13 operations, in an order in which each finds what it needs. */
export function workspaceSteps(prefix: string): Step[] {
	const step = (name: string, rest: Omit<Step, 'name' | 'type'>): Step => ({
		name,
		type: 'workspace',
		...rest,
	});
	const spreadsheet = (operation: string, more: object) => (known: Json) => ({
		resource: 'spreadsheet',
		operation,
		spreadsheetId: byId(known.spreadsheetId),
		...more,
	});
	const document = (operation: string, more: object) => (known: Json) => ({
		resource: 'document',
		operation,
		documentId: byId(known.documentId),
		...more,
	});
	const has = (key: string): Step['check'] => {
		return ([json]) =>
			json?.[key] === undefined ? `there is no ${key} in the output` : undefined;
	};
	return [
		step('Spreadsheet: Create', {
			needs: [],
			parameters: () => ({
				resource: 'spreadsheet',
				operation: 'create',
				title: `${prefix} spreadsheet`,
				options: { sheets: 'People, Q1', values: '[["Name", "Age"]]' },
			}),
			check: has('spreadsheetId'),
			learns: (output) => ({ spreadsheetId: first(output).spreadsheetId }),
			made: file(
				'a spreadsheet',
				'spreadsheetId',
				(id) => `https://docs.google.com/spreadsheets/d/${id}`,
			),
		}),
		step('Spreadsheet: Append', {
			needs: ['spreadsheetId'],
			input: { Name: 'Ann', Age: 31 },
			parameters: spreadsheet('append', {
				columns: { mappingMode: 'autoMapInputData', value: null },
				options: { range: 'People!A:B' },
			}),
			check: has('updatedRange'),
		}),
		step('Spreadsheet: Write', {
			needs: ['spreadsheetId'],
			parameters: spreadsheet('write', {
				writeMode: 'overwrite',
				valuesSource: 'json',
				values: '[["Ben", 42]]',
				options: { range: 'People!A3' },
			}),
			check: has('updatedRange'),
		}),
		step('Spreadsheet: Read', {
			needs: ['spreadsheetId'],
			parameters: spreadsheet('read', { options: { range: 'People!A:B' } }),
			check: (rows) => {
				const names = rows.map(({ Name }) => String(Name)).join(', ');
				return names === 'Ann, Ben'
					? undefined
					: `the rows of Ann and Ben were expected, not: ${names}`;
			},
		}),
		step('Document: Create', {
			needs: [],
			parameters: () => ({
				resource: 'document',
				operation: 'create',
				title: `${prefix} document`,
				content,
			}),
			check: has('documentId'),
			learns: (output) => ({ documentId: first(output).documentId }),
			made: file(
				'a document',
				'documentId',
				(id) => `https://docs.google.com/document/d/${id}`,
			),
		}),
		step('Document: Append', {
			needs: ['documentId'],
			parameters: document('append', { content: 'Appended' }),
			check: has('revisionId'),
		}),
		step('Document: Write', {
			needs: ['documentId'],
			parameters: document('write', {
				replace: 'document',
				content: '# Heading\n\nWritten',
				contentFormat: 'markdown',
			}),
			check: has('revisionId'),
		}),
		step('Document: Read', {
			needs: ['documentId'],
			parameters: document('read', { format: 'markdown' }),
			check: ([json]) => {
				const text = String(json?.content).trim();
				return text === '# Heading\n\nWritten'
					? undefined
					: `another text was read than was written: ${text}`;
			},
		}),
		step('File: Upload', {
			needs: [],
			parameters: () => ({
				resource: 'file',
				operation: 'upload',
				name: `${prefix} file.txt`,
				contentSource: 'text',
				content,
			}),
			check: has('id'),
			made: file('a file', 'id', (id) => `https://drive.google.com/file/d/${id}`),
		}),
		step('Mail: Send', {
			needs: ['to'],
			parameters: ({ to }) => ({
				resource: 'mail',
				operation: 'send',
				to,
				subject: `${prefix} email`,
				body: content,
			}),
			check: has('id'),
			learns: (output) => ({ messageId: first(output).id }),
			made: file('an email', 'id', (id) => `https://mail.google.com/mail/u/0/#all/${id}`),
		}),
		step('Mail: Read', {
			needs: ['messageId'],
			parameters: ({ messageId }) => ({ resource: 'mail', operation: 'read', messageId }),
			check: ([json]) =>
				json?.subject === `${prefix} email`
					? undefined
					: 'the subject is not the one that was sent',
		}),
		step('Mail: List', {
			needs: [],
			parameters: () => ({ resource: 'mail', operation: 'list', maxResults: 3 }),
			check: (mails) =>
				mails.length > 3 ? `${mails.length} emails instead of at most 3` : undefined,
		}),
		step('Mail: Search', {
			needs: [],
			parameters: () => ({
				resource: 'mail',
				operation: 'search',
				query: 'subject:"n8n live test"',
				maxResults: 3,
			}),
			check: (mails) =>
				mails.length > 3 ? `${mails.length} emails instead of at most 3` : undefined,
		}),
	];
}
