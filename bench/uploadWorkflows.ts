import type { WorkflowDefinition } from '../dev/n8n/rest.ts';
import type { benchN8n } from './n8n.ts';

export type BenchN8n = Awaited<ReturnType<typeof benchN8n>>;
export type Stored = WorkflowDefinition & { readonly id: string };

const node = (name: string, type: string, typeVersion: number, parameters: object, more: object = {}) => ({
	id: name,
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
	...more,
});

function workflow(name: string, file: string, upload: object): WorkflowDefinition {
	const link = (to: string) => ({ main: [[{ node: to, type: 'main', index: 0 }]] });
	return {
		name,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
			node('Read', 'n8n-nodes-base.readWriteFile', 1, { fileSelector: file, options: {} }),
			{ ...upload },
		],
		connections: { Start: link('Read'), Read: link('Upload') },
	};
}

/** Both workflows read the file from disk and upload it, each with its own node. */
export async function createWorkflows(
	n8n: BenchN8n,
	url: string,
	file: string,
): Promise<{ ours: Stored; theirs: Stored }> {
	const oauthTokenData = { access_token: 'bench', refresh_token: 'bench', token_type: 'Bearer' };
	const client = { clientId: 'stand-in-client', clientSecret: 'secret', oauthTokenData };
	const ours = await n8n.api.createCredential('workspaceOAuth2Api', 'Workspace', {
		...client,
		driveAccess: 'allFiles',
		customEndpoints: true,
		driveApiBase: `${url}/drive/v3`,
		tokenUrl: `${url}/token`,
	});
	const theirs = await n8n.api.createCredential('googleDriveOAuth2Api', 'Drive', client);
	const workspace = node(
		'Upload',
		'n8n-nodes-agent-workspace.workspace',
		1,
		{ resource: 'file', operation: 'upload', name: 'large.bin', options: {} },
		{ credentials: { workspaceOAuth2Api: ours } },
	);
	const drive = node(
		'Upload',
		'n8n-nodes-base.googleDrive',
		3,
		{
			resource: 'file',
			operation: 'upload',
			authentication: 'oAuth2',
			name: 'large.bin',
			driveId: { __rl: true, mode: 'list', value: 'My Drive' },
			folderId: { __rl: true, mode: 'list', value: 'root' },
			options: {},
		},
		{ credentials: { googleDriveOAuth2Api: theirs } },
	);
	return {
		ours: await n8n.api.createWorkflow(workflow('Workspace', file, workspace)),
		theirs: await n8n.api.createWorkflow(workflow("n8n's Google Drive node", file, drive)),
	};
}
