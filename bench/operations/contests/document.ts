import { node } from '../../../dev/n8n/nodes.ts';
import type { Seeded } from '../google.ts';
import {
	nothing,
	byId,
	numbered,
	paragraph,
	type Contest,
	type Credentials,
	type Items,
	type Node,
} from './contest.ts';

const docs = (parameters: object, { googleDocsOAuth2Api }: Credentials) =>
	node(
		'Step',
		'n8n-nodes-base.googleDocs',
		{ authentication: 'oAuth2', resource: 'document', ...parameters },
		{ typeVersion: 2, credentials: { googleDocsOAuth2Api } },
	);

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

const documentItems = (_: number, { documentIds }: Seeded): Items =>
	documentIds.map((documentId) => ({ documentId }));
const document = (operation: string, parameters: object = {}) => ({
	resource: 'document',
	operation,
	documentId: byId('={{ $json.documentId }}'),
	...parameters,
});

export const documents: readonly Contest[] = [
	{
		operation: 'Document: Create',
		rival: "n8n's Google Docs node",
		needs: () => nothing,
		items: numbered,
		returns: (size) => size,
		ours: () => ({ resource: 'document', operation: 'create', title: '=Document {{ $json.n }}' }),
		theirs: (_, credentials) => [
			docs({ operation: 'create', folderId: 'default', title: '=Document {{ $json.n }}' }, credentials),
		],
	},
	{
		operation: 'Document: Read',
		rival: "n8n's Google Docs node",
		needs: (size) => ({ ...nothing, documents: size }),
		items: documentItems,
		returns: (size) => size,
		ours: () => document('read'),
		theirs: (_, credentials) => [
			docs({ operation: 'get', documentURL: '={{ $json.documentId }}', simple: true }, credentials),
		],
	},
	{
		operation: 'Document: Append',
		rival: 'two HTTP Request nodes: read the revision, append to it',
		needs: (size) => ({ ...nothing, documents: size }),
		items: documentItems,
		returns: (size) => size,
		ours: () => document('append', { content: paragraph }),
		theirs: (_, credentials) =>
			guarded({ insertText: { text: `\n${paragraph}`, endOfSegmentLocation: {} } })(credentials),
	},
	{
		operation: 'Document: Append (n8n has no guard)',
		rival: "n8n's Google Docs node",
		roundTrips: 2,
		needs: (size) => ({ ...nothing, documents: size }),
		items: documentItems,
		returns: (size) => size,
		ours: () => document('append', { content: paragraph }),
		theirs: (_, credentials) => [
			docs(
				{
					operation: 'update',
					documentURL: '={{ $json.documentId }}',
					simple: true,
					updateFields: {},
					actionsUi: {
						actionFields: [
							{
								object: 'text',
								action: 'insert',
								locationChoice: 'endOfSegmentLocation',
								insertSegment: 'body',
								text: `\n${paragraph}`,
							},
						],
					},
				},
				credentials,
			),
		],
	},
	{
		operation: 'Document: Write',
		rival: 'two HTTP Request nodes: read the end, replace',
		needs: (size) => ({ ...nothing, documents: size }),
		items: documentItems,
		returns: (size) => size,
		ours: () => document('write', { content: paragraph }),
		theirs: (_, credentials) =>
			guarded(
				{
					deleteContentRange: {
						range: { startIndex: 1, endIndex: '{{ $json.body.content.at(-1).endIndex - 1 }}' },
					},
				},
				{ insertText: { text: paragraph, location: { index: 1 } } },
			)(credentials),
	},
];

/** What one builds in n8n without our node: read the document, then change the revision that was read. */
function guarded(...requests: object[]) {
	return (credentials: Credentials): readonly Node[] => {
		const base = 'https://docs.googleapis.com/v1/documents';
		const body = JSON.stringify({
			requests,
			writeControl: { requiredRevisionId: '{{ $json.revisionId }}' },
		}).replaceAll(/"(\{\{[^"]*endIndex[^"]*\}\})"/g, '$1');
		return [
			http('Look', { url: `=${base}/{{ $json.documentId }}` }, credentials),
			http(
				'Step',
				{
					method: 'POST',
					url: `=${base}/{{ $json.documentId }}:batchUpdate`,
					sendBody: true,
					specifyBody: 'json',
					jsonBody: `=${body}`,
				},
				credentials,
			),
		];
	};
}
