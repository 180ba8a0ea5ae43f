// The same tools twice, with the same names: of the Workspace node, and of n8n's own nodes.
import { node } from '../../dev/n8n/nodes.ts';
import type { Credentials } from '../n8n.ts';
import { byId, byName, mapColumns, myDrive } from '../operations/contest.ts';

export interface Ids {
	readonly guests: string;
	readonly orders: string;
	readonly handbook: string;
	readonly minutes: string;
}

type Tools = Readonly<Record<string, readonly [type: string, parameters: object]>>;

/** A parameter that the model fills in, as the editor's button writes it. */
const fill = (label: string, type = 'string') =>
	`={{ $fromAI('${label.replaceAll(' ', '_')}', \`\`, '${type}') }}`;
const startCharacter = { options: { startCharacter: fill('Start Character', 'number') } };
const guest = { Name: fill('Name'), Email: fill('Email') };

/** Every field that the form shows and a model can know, and the option that continues. */
export function buildOurTools({ guests, orders, handbook, minutes }: Ids): Tools {
	const own = (resource: string, operation: string, parameters: object): [string, object] => [
		'n8n-nodes-agent-workspace.workspaceTool',
		{ resource, operation, ...parameters },
	];
	const pages = { options: { pageToken: fill('Page Token') } };
	const sheet = (id: string, operation: string, parameters: object) =>
		own('spreadsheet', operation, {
			spreadsheetId: byId(id),
			tab: byName('Sheet1'),
			...parameters,
		});
	const columns = { valuesSource: 'columns', columns: mapColumns(guest) };
	const order = { Order: fill('Order'), Status: fill('Status') };
	const matched = { writeMode: 'updateOrAdd', matchColumns: ['Order'] };
	const filter = [{ column: 'Order', condition: 'equals', value: fill('Order') }];
	return {
		'Search emails': own('mail', 'search', { query: fill('Query'), ...pages }),
		'Unread emails': own('mail', 'list', {
			status: 'unread',
			from: fill('From'),
			maxResults: 50,
			...pages,
		}),
		'Read email': own('mail', 'read', { messageId: fill('Message ID'), ...startCharacter }),
		'Draft a reply': own('mail', 'send', {
			sendAs: 'draft',
			email: 'reply',
			replyToMessageId: fill('Message ID'),
			body: fill('Body'),
		}),
		'Save a file': own('file', 'upload', {
			...{ name: fill('Name'), contentSource: 'text', content: fill('Content') },
		}),
		'Add a guest': sheet(guests, 'append', columns),
		'Change an order': sheet(orders, 'write', {
			...columns,
			columns: mapColumns(order),
			...matched,
		}),
		'Find an order': sheet(orders, 'read', { filters: { filter } }),
		'Read orders': sheet(orders, 'read', {
			options: { range: fill('Range'), startRow: fill('Start Row', 'number') },
		}),
		'Read the handbook': own('document', 'read', {
			documentId: byId(handbook),
			...startCharacter,
		}),
		'Create a document': own('document', 'create', {
			title: fill('Title'),
			content: fill('Content'),
		}),
		'Add to the minutes': own('document', 'append', {
			...{ documentId: byId(minutes), content: fill('Content'), contentFormat: 'text' },
		}),
	};
}

/** Every field that the form shows and a model can know; Simplify is off where it leaves out the text. */
export function buildTheirTools({ guests, orders, handbook, minutes }: Ids): Tools {
	const gmail = (operation: string, parameters: object): [string, object] => [
		'n8n-nodes-base.gmailTool',
		{ resource: 'message', operation, options: {}, ...parameters },
	];
	const list = (filters: object) => gmail('getAll', { filters });
	const sheet = (id: string, operation: string, parameters: object = {}): [string, object] => [
		'n8n-nodes-base.googleSheetsTool',
		{
			resource: 'sheet',
			operation,
			authentication: 'oAuth2',
			documentId: byId(id),
			options: {},
			...{ sheetName: byName('Sheet1'), ...parameters },
		},
	];
	const document = (
		operation: string,
		documentURL: string,
		parameters: object = {},
	): [string, object] => [
		'n8n-nodes-base.googleDocsTool',
		{ authentication: 'oAuth2', operation, documentURL, simple: true, ...parameters },
	];
	const file = (options: object): [string, object] => [
		'n8n-nodes-base.googleDriveTool',
		{
			resource: 'file',
			operation: 'createFromText',
			name: fill('Name'),
			content: fill('Content'),
			...myDrive,
			options,
		},
	];
	const atTheEnd = { object: 'text', action: 'insert', locationChoice: 'endOfSegmentLocation' };
	const order = mapColumns({ Order: fill('Order'), Status: fill('Status') }, 'Order');
	return {
		'Search emails': list({ q: fill('Query') }),
		'Unread emails': list({ readStatus: 'unread', sender: fill('From') }),
		'Read email': gmail('get', { messageId: fill('Message ID'), simple: false }),
		'Draft a reply': gmail('create', {
			...{ resource: 'draft', subject: fill('Subject'), message: fill('Body') },
			options: { threadId: fill('Thread ID'), sendTo: fill('To') },
		}),
		'Save a file': file({}),
		'Add a guest': sheet(guests, 'append', { columns: mapColumns(guest) }),
		'Change an order': sheet(orders, 'update', { columns: order }),
		'Find an order': sheet(orders, 'read', {
			filtersUI: { values: [{ lookupColumn: 'Order', lookupValue: fill('Order') }] },
		}),
		'Read orders': sheet(orders, 'read'),
		'Read the handbook': document('get', handbook),
		'Create a document': file({ convertToGoogleDocument: true }),
		'Add to the minutes': document('update', minutes, {
			actionsUi: {
				actionFields: [{ ...atTheEnd, insertSegment: 'body', text: fill('Content') }],
			},
			updateFields: {},
		}),
	};
}

const versions: Readonly<Record<string, readonly [version: number, credential: string]>> = {
	workspaceTool: [1, 'workspaceOAuth2Api'],
	gmailTool: [2.1, 'gmailOAuth2'],
	googleSheetsTool: [4.7, 'googleSheetsOAuth2Api'],
	googleDocsTool: [2, 'googleDocsOAuth2Api'],
	googleDriveTool: [3, 'googleDriveOAuth2Api'],
};

export function createToolNodes(tools: Tools, credentials: Credentials) {
	return Object.entries(tools).map(([name, [type, parameters]]) => {
		const [typeVersion, credential] = versions[type.split('.').at(-1) ?? ''] ?? [1, ''];
		const more = { typeVersion, credentials: { [credential]: credentials[credential] } };
		return node(name, type, { ...parameters }, more);
	});
}
