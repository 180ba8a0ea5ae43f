import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { root } from './n8n/installN8n.ts';
import { buildSignedInCredential } from './google/credential.ts';
import { demoReport, demoSpreadsheet, demoTemplate } from './google/demo.ts';
import type { GoogleServer } from './google/server.ts';
import { defaultScopes, widestScopes } from './google/tokens.ts';
import type { N8nApi, WorkflowDefinition } from './n8n/n8nApi.ts';

/** The stand-ins that the examples talk to. */
export interface Services {
	readonly agent: {
		readonly url: string;
		readonly webSocketUrl: string;
		readonly apiKey: string;
	};
	readonly google: Pick<GoogleServer, 'url' | 'tokens'>;
	/** The token of those who call a published address, and the chat model's address. Without them, their nodes have no credential. */
	readonly callers?: string;
	readonly modelUrl?: string;
	/** Part of the names of credentials and workflows, so that programs that share an n8n but not the stand-ins have their own. Default: `demo` for credentials. */
	readonly label?: string;
}

export interface ImportedExample {
	readonly file: string;
	readonly workflow: WorkflowDefinition & { id: string; versionId: string };
	/** How `npm start` shows it: by running it once, or by publishing it and submitting its form. */
	readonly shown: 'run' | 'publishAndSubmit' | undefined;
}

export interface StoredCredential {
	readonly id: string;
	readonly name: string;
	readonly type: string;
}

interface CredentialToStore {
	readonly type: string;
	readonly name: string;
	readonly data: Record<string, unknown>;
}

const fullAccess = 'full access';

/** The sign-in of a newcomer who chose nothing, and one with the widest choices, for the nodes that need more. */
function buildSignIns({ url, tokens }: Services['google'], label: string): CredentialToStore[] {
	const build = (name: string, scopes: string[], access: Record<string, string>) => {
		const token = name.replaceAll(/\W+/g, '-');
		// The same at every start, because n8n keeps the tokens of an existing credential.
		const accessToken = tokens.issue({ token: `${token}-access-token`, scopes });
		const refreshToken = tokens.issueRefresh({ token: `${token}-refresh-token`, scopes });
		const data = buildSignedInCredential(url, { accessToken, refreshToken }, access);
		return { type: 'workspaceOAuth2Api', name: `Workspace OAuth2 API (${name})`, data };
	};
	const widest = { mailAccess: 'labelsToo', driveAccess: 'allFiles' };
	return [
		build(label, defaultScopes, {}),
		build(`${label}, ${fullAccess}`, widestScopes, widest),
	];
}

/** Values that the stand-ins accept. They are made up and open nothing. */
function buildCredentials({ agent, google, label = 'demo', ...more }: Services) {
	const { callers, modelUrl } = more;
	const build = (type: string, name: string, data: Record<string, unknown>) => {
		return { type, name: `${name} (${label})`, data };
	};
	const { url: deploymentUrl, webSocketUrl, apiKey } = agent;
	const credentials: CredentialToStore[] = [
		build('agentApi', 'Agent API', { deploymentUrl, webSocketUrl, apiKey }),
		build('agentSignatureApi', 'Agent Signature API', {
			userId: '0x5aeda56215b167893e80b4fe645ba6d5',
			userPublicKey: '0x04bfcab8722991ae',
			signature: '0x1234abcd',
		}),
		...buildSignIns(google, label),
	];
	if (callers !== undefined) {
		const header = { name: 'x-token', value: callers };
		credentials.push(
			build('httpBearerAuth', 'Callers, bearer token', { token: callers }),
			build('httpHeaderAuth', 'Callers, header x-token', header),
		);
	}
	if (modelUrl !== undefined)
		credentials.push(build('openAiApi', 'Chat model', { apiKey: 'none', url: modelUrl }));
	return credentials;
}

/**
 * Imports the ready-made credentials and the example workflows. Existing ones stay as the user left them,
 * except for the addresses in the credentials, which may be new.
 */
export async function importExamples(api: N8nApi, services: Services): Promise<ImportedExample[]> {
	const credentials = await ensureCredentials(api, services);
	const present = await api.request<Array<{ id: string; name: string }>>('GET', 'workflows');
	const imported: ImportedExample[] = [];
	const names = await readdir(path.join(root, 'examples'));
	const all = names.filter((name) => name.endsWith('.json')).sort();
	const files = [...new Set([...shownFiles.keys(), ...all])].filter((name) => all.includes(name));
	for (const file of files) {
		const example = await readExample(file);
		const { label } = services;
		const ownName = label === undefined ? example.name : `${example.name} (${label})`;
		const known = present.find(({ name }) => name === ownName);
		const workflow = known
			? await api.request<ImportedExample['workflow']>('GET', `workflows/${known.id}`)
			: await api.createWorkflow(withDemo({ ...example, name: ownName }, credentials));
		imported.push({ file, workflow, shown: shownFiles.get(file) });
	}
	return imported;
}

export async function readExample(file: string): Promise<WorkflowDefinition> {
	const text = await readFile(path.join(root, 'examples', file), 'utf8');
	return JSON.parse(text) as WorkflowDefinition;
}

/** What `npm start` shows, in this order. */
const shownFiles: ReadonlyMap<string, ImportedExample['shown']> = new Map([
	['ask-the-agent-and-wait.json', 'run'],
	['run-an-agent.json', 'run'],
	['agent-answers-start-a-workflow.json', 'publishAndSubmit'],
	['mail-to-sheet.json', 'run'],
]);

export async function ensureCredentials(
	api: N8nApi,
	services: Services,
): Promise<StoredCredential[]> {
	const present = await api.request<StoredCredential[]>('GET', 'credentials');
	const stored: StoredCredential[] = [];
	for (const { type, name, data } of buildCredentials(services)) {
		const known = present.find((one) => one.name === name && one.type === type);
		if (known) await api.request('PATCH', `credentials/${known.id}`, { name, type, data });
		stored.push(known ?? { ...(await api.createCredential(type, name, data)), type });
	}
	return stored;
}

const credentialTypes: Readonly<Record<string, readonly string[]>> = {
	'n8n-nodes-agent-workspace.agentExecute': ['agentApi', 'agentSignatureApi'],
	'n8n-nodes-agent-workspace.agentSessionTrigger': ['agentApi', 'agentSignatureApi'],
	'n8n-nodes-agent-workspace.workspace': ['workspaceOAuth2Api'],
	'@n8n/n8n-nodes-langchain.mcpTrigger': ['httpBearerAuth'],
	'n8n-nodes-base.webhook': ['httpHeaderAuth'],
	'@n8n/n8n-nodes-langchain.lmChatOpenAi': ['openAiApi'],
};

/** What a node's form says that the sign-in of a newcomer does not allow: drafts, labels, and a template that the app did not create. */
export function needsFullAccess(node: Record<string, unknown>): boolean {
	const { sendAs, from, afterReading } = (node['parameters'] ?? {}) as Record<string, unknown>;
	const changesLabels = Object.keys(afterReading ?? {}).length > 0;
	return sendAs === 'draft' || from === 'template' || changesLabels;
}

export function withCredentials(
	node: Record<string, unknown>,
	stored: readonly StoredCredential[],
): Record<string, unknown> {
	const types = credentialTypes[String(node.type).replace(/Tool$/, '')] ?? [];
	const needsFull = needsFullAccess(node);
	const fits = ({ type, name }: StoredCredential) =>
		types.includes(type) &&
		(type !== 'workspaceOAuth2Api' || name.includes(fullAccess) === needsFull);
	const chosen = stored.filter(fits).map(({ id, name, type }) => [type, { id, name }]);
	return chosen.length === 0 ? node : { ...node, credentials: Object.fromEntries(chosen) };
}

/** Puts the demo's files where a user has to choose one. */
function withDemo(
	definition: WorkflowDefinition,
	stored: readonly StoredCredential[],
): WorkflowDefinition {
	const nodes = definition.nodes.map((node) => {
		const parameters = { ...(node.parameters as Record<string, unknown>) };
		for (const [name, { id, title }] of Object.entries(demoFiles)) {
			const locator = parameters[name] as { value: string } | undefined;
			if (locator?.value === '')
				parameters[name] = { ...locator, value: id, cachedResultName: title };
		}
		return withCredentials({ ...node, parameters }, stored);
	});
	return { ...definition, nodes };
}

const demoFiles = {
	spreadsheetId: demoSpreadsheet,
	documentId: demoReport,
	templateId: demoTemplate,
} as const;
