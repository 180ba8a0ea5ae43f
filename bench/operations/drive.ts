// Documents and files.
import { node } from '../../dev/n8n/nodes.ts';
import type { Credentials, Step } from '../n8n.ts';
import { byId, myDrive, paragraph, rivalNode, usualTarget, type Contest } from './contest.ts';

const rival = "n8n's Google Docs node";
const docs = rivalNode('googleDocs', 2, 'googleDocsOAuth2Api', {
	...{ authentication: 'oAuth2', resource: 'document' },
});
export const drive = rivalNode('googleDrive', 3, 'googleDriveOAuth2Api', {
	...{ authentication: 'oAuth2', resource: 'file' },
});

const http = (name: string, parameters: object, { googleDocsOAuth2Api }: Credentials) =>
	node(
		name,
		'n8n-nodes-base.httpRequest',
		{
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'googleDocsOAuth2Api',
			options: {},
			...parameters,
		},
		{ typeVersion: 4.2, credentials: { googleDocsOAuth2Api } },
	);

/** An operation on one document for each item. */
const onDocuments = (operation: string, parameters: object = {}) => ({
	needs: (size: number) => ({ documents: size }),
	input: (_: number, { documentIds }: { readonly documentIds: readonly string[] }) =>
		JSON.stringify(documentIds.map((documentId) => ({ documentId }))),
	ours: () => ({
		...{ resource: 'document', operation, documentId: byId('={{ $json.documentId }}') },
		...parameters,
	}),
});
const documentURL = '={{ $json.documentId }}';

const atTheEnd = {
	object: 'text',
	action: 'insert',
	locationChoice: 'endOfSegmentLocation',
	insertSegment: 'body',
	text: `\n${paragraph}`,
};

export const documents: readonly Contest[] = [
	{
		operation: 'Document: Create',
		rival,
		ours: () => ({
			resource: 'document',
			operation: 'create',
			title: '=Document {{ $json.n }}',
		}),
		theirs: () =>
			docs({ operation: 'create', folderId: 'default', title: '=Document {{ $json.n }}' }),
	},
	{
		operation: 'Document: Read',
		rival,
		...onDocuments('read'),
		theirs: () => docs({ operation: 'get', documentURL, simple: true }),
	},
	{
		operation: 'Document: Append',
		rival: 'two HTTP Request nodes: read the revision, append to it',
		...onDocuments('append', { content: paragraph }),
		theirs: () =>
			guarded({
				insertText: { text: `\n${paragraph}`, endOfSegmentLocation: {} },
			}),
	},
	{
		operation: 'Document: Append (n8n has no guard)',
		rival,
		...onDocuments('append', { content: paragraph }),
		atMost: () => 2 * usualTarget,
		theirs: () =>
			docs({
				...{ operation: 'update', documentURL, simple: true, updateFields: {} },
				actionsUi: { actionFields: [atTheEnd] },
			}),
	},
	{
		operation: 'Document: Write',
		rival: 'two HTTP Request nodes: read the end, replace',
		...onDocuments('write', { replace: 'document', content: paragraph }),
		theirs: () => {
			const range = {
				startIndex: 1,
				endIndex: '{{ $json.body.content.at(-1).endIndex - 1 }}',
			};
			const insertText = { text: paragraph, location: { index: 1 } };
			return guarded({ deleteContentRange: { range } }, { insertText });
		},
	},
];

/** What one builds in n8n without our node: read the document, then change the revision that was read. */
function guarded(...requests: object[]) {
	const url = '=https://docs.googleapis.com/v1/documents/{{ $json.documentId }}';
	const writeControl = { requiredRevisionId: '{{ $json.revisionId }}' };
	const body = JSON.stringify({ requests, writeControl });
	const jsonBody = `=${body.replaceAll(/"(\{\{[^"]*endIndex[^"]*\}\})"/g, '$1')}`;
	const change = {
		method: 'POST',
		url: `${url}:batchUpdate`,
		sendBody: true,
		specifyBody: 'json',
		jsonBody,
	};
	return (credentials: Credentials): readonly Step[] => [
		http('Look', { url }, credentials),
		http('Step', change, credentials),
	];
}

export const files: readonly Contest[] = [
	{
		operation: 'File: Upload',
		rival: "n8n's Google Drive node",
		ours: () => ({
			...{ resource: 'file', operation: 'upload', name: '=note {{ $json.n }}.txt' },
			...{ contentSource: 'text', content: paragraph },
		}),
		theirs: () =>
			drive({
				operation: 'createFromText',
				name: '=note {{ $json.n }}.txt',
				content: paragraph,
				...myDrive,
				options: {},
			}),
	},
];
