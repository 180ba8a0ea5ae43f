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
	const end = { waitUntil: 'count', messageCount: 1, waitTimeoutSeconds: 60 };
	const waits = { waitForMessages: true, ...end };
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

/** @param base the address of what was made, up to its ID */
const file = (what: string, key: string, base: string) => (output: readonly NodeItem[]) => [
	{ what, address: `${base}${String(first(output)[key])}` },
];

/** The 13 operations, in an order in which each finds what it needs. */
export function workspaceSteps(prefix: string): Step[] {
	const step = (name: string, rest: Omit<Step, 'name' | 'type'>): Step => {
		return { name, type: 'workspace', ...rest };
	};
	/** An operation on the file that an earlier step created. */
	const on =
		(resource: 'spreadsheet' | 'document', operation: string, more: object) =>
		(known: Json) => {
			const fileId = `${resource}Id`;
			return { resource, operation, [fileId]: byId(known[fileId]), ...more };
		};
	const has =
		(key: string): Step['check'] =>
		([json]) =>
			json?.[key] === undefined ? `there is no ${key} in the output` : undefined;
	const atMostThree: Step['check'] = (mails) =>
		mails.length > 3 ? `${mails.length} emails instead of at most 3` : undefined;
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
			made: file('a spreadsheet', 'spreadsheetId', 'https://docs.google.com/spreadsheets/d/'),
		}),
		step('Spreadsheet: Append', {
			needs: ['spreadsheetId'],
			input: { Name: 'Ann', Age: 31 },
			parameters: on('spreadsheet', 'append', {
				columns: { mappingMode: 'autoMapInputData', value: null },
				options: { range: 'People!A:B' },
			}),
			check: has('updatedRange'),
		}),
		step('Spreadsheet: Write', {
			needs: ['spreadsheetId'],
			parameters: on('spreadsheet', 'write', {
				writeMode: 'overwrite',
				valuesSource: 'json',
				values: '[["Ben", 42]]',
				options: { range: 'People!A3' },
			}),
			check: has('updatedRange'),
		}),
		step('Spreadsheet: Read', {
			needs: ['spreadsheetId'],
			parameters: on('spreadsheet', 'read', { options: { range: 'People!A:B' } }),
			check: (rows) => {
				const names = rows.map(({ Name }) => String(Name)).join(', ');
				if (names === 'Ann, Ben') return undefined;
				return `the rows of Ann and Ben were expected, not: ${names}`;
			},
		}),
		step('Document: Create', {
			needs: [],
			parameters: () => {
				const title = `${prefix} document`;
				return { resource: 'document', operation: 'create', title, content };
			},
			check: has('documentId'),
			learns: (output) => ({ documentId: first(output).documentId }),
			made: file('a document', 'documentId', 'https://docs.google.com/document/d/'),
		}),
		step('Document: Append', {
			needs: ['documentId'],
			parameters: on('document', 'append', { content: 'Appended' }),
			check: has('revisionId'),
		}),
		step('Document: Write', {
			needs: ['documentId'],
			parameters: on('document', 'write', {
				replace: 'document',
				content: '# Heading\n\nWritten',
				contentFormat: 'markdown',
			}),
			check: has('revisionId'),
		}),
		step('Document: Read', {
			needs: ['documentId'],
			parameters: on('document', 'read', { format: 'markdown' }),
			check: ([json]) => {
				const text = String(json?.content).trim();
				if (text === '# Heading\n\nWritten') return undefined;
				return `another text was read than was written: ${text}`;
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
			made: file('a file', 'id', 'https://drive.google.com/file/d/'),
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
			made: file('an email', 'id', 'https://mail.google.com/mail/u/0/#all/'),
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
			check: atMostThree,
		}),
		step('Mail: Search', {
			needs: [],
			parameters: () => ({
				resource: 'mail',
				operation: 'search',
				query: 'subject:"n8n live test"',
				maxResults: 3,
			}),
			check: atMostThree,
		}),
	];
}
