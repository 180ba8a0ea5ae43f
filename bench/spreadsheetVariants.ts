// The workflows that the benchmark compares.
import type { WorkflowDefinition } from '../dev/n8n/rest.ts';
import type { benchN8n } from './n8n.ts';

export const columns = 10;
export const appendedRows = 1_000;

export type N8n = Awaited<ReturnType<typeof benchN8n>>;
export type Stored = WorkflowDefinition & { readonly id: string };

export interface Variant {
	readonly stored: Stored;
	readonly milliseconds: number[];
	/** Requests in one run. */
	requests: number;
}

const node = (name: string, type: string, typeVersion: number, parameters: object, more: object = {}) => ({
	id: name,
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
	...more,
});

const cells = Array.from({ length: columns }, (_, column) => `f${column}`);
const makeItems = `Array.from({ length: ${appendedRows} }, (_, row) => (${JSON.stringify(cells)}.map((name) => [name, name + ' of new row ' + row])))`;
const inputs = {
	items: `return ${makeItems}.map((pairs) => ({ json: Object.fromEntries(pairs) }));`,
	oneItem: `return [{ json: { rows: ${makeItems}.map((pairs) => pairs.map(([, value]) => value)) } }];`,
	nothing: 'return [{ json: {} }];',
};

function workflow(name: string, input: keyof typeof inputs, step: object): WorkflowDefinition {
	const link = (to: string) => ({ main: [[{ node: to, type: 'main', index: 0 }]] });
	return {
		name,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('Input', 'n8n-nodes-base.code', 2, { jsCode: inputs[input] }),
			{ ...step },
		],
		connections: { Start: link('Input'), Input: link('Step') },
	};
}

async function credentials(n8n: N8n) {
	const signIn = {
		clientId: 'client',
		clientSecret: 'secret',
		oauthTokenData: { access_token: 'bench', token_type: 'Bearer' },
	};
	return {
		workspaceOAuth2Api: await n8n.api.createCredential('workspaceOAuth2Api', 'Workspace', signIn),
		googleSheetsOAuth2Api: await n8n.api.createCredential('googleSheetsOAuth2Api', 'Sheets', signIn),
	};
}

export async function variantsOf(n8n: N8n) {
	const { workspaceOAuth2Api, googleSheetsOAuth2Api } = await credentials(n8n);
	const id = { __rl: true, mode: 'id', value: 'bench-spreadsheet' };
	const ours = (parameters: object) =>
		node(
			'Step',
			'n8n-nodes-agent-workspace.workspace',
			1,
			{ resource: 'spreadsheet', spreadsheetId: id, range: 'Sheet1!A:J', ...parameters },
			{ credentials: { workspaceOAuth2Api } },
		);
	const theirs = (parameters: object) =>
		node(
			'Step',
			'n8n-nodes-base.googleSheets',
			4.7,
			{
				authentication: 'oAuth2',
				resource: 'sheet',
				documentId: id,
				sheetName: { __rl: true, mode: 'name', value: 'Sheet1' },
				...parameters,
			},
			{ credentials: { googleSheetsOAuth2Api } },
		);
	const row = `={{ [[${cells.map((name) => `$json.${name}`).join(', ')}]] }}`;
	const of = async (name: string, input: keyof typeof inputs, step: object): Promise<Variant> => ({
		stored: await n8n.api.createWorkflow(workflow(name, input, step)),
		milliseconds: [],
		requests: 0,
	});
	const autoMap = { mappingMode: 'autoMapInputData', value: {}, matchingColumns: [], schema: [] };
	return {
		theirs: await of("n8n's node, 1,000 items", 'items', theirs({ operation: 'append', columns: autoMap })),
		oneItem: await of(
			'one item with 1,000 rows',
			'oneItem',
			ours({ operation: 'append', valuesSource: 'json', values: '={{ $json.rows }}' }),
		),
		items: await of('1,000 items', 'items', ours({ operation: 'append', valuesSource: 'items' })),
		expressions: await of(
			'1,000 items with an expression each',
			'items',
			ours({ operation: 'append', valuesSource: 'json', values: row }),
		),
		theirRead: await of("read, n8n's node", 'nothing', theirs({ operation: 'read' })),
		read: await of('read as rows', 'nothing', ours({ operation: 'read', options: { output: 'rows' } })),
	};
}
