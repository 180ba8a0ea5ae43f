import { node } from '../../../dev/n8n/nodes.ts';
import { nothing, numbered, paragraph, type Contest, type Credentials } from './contest.ts';

const drive = (parameters: object, { googleDriveOAuth2Api }: Credentials) =>
	node(
		'Step',
		'n8n-nodes-base.googleDrive',
		{ authentication: 'oAuth2', resource: 'file', ...parameters },
		{ typeVersion: 3, credentials: { googleDriveOAuth2Api } },
	);

export const files: readonly Contest[] = [
	{
		operation: 'File: Upload',
		rival: "n8n's Google Drive node",
		needs: () => nothing,
		items: numbered,
		returns: (size) => size,
		ours: () => ({
			resource: 'file',
			operation: 'upload',
			name: '=note {{ $json.n }}.txt',
			contentSource: 'text',
			content: paragraph,
		}),
		theirs: (_, credentials) => [
			drive(
				{
					operation: 'createFromText',
					name: '=note {{ $json.n }}.txt',
					content: paragraph,
					driveId: { __rl: true, mode: 'list', value: 'My Drive' },
					folderId: { __rl: true, mode: 'list', value: 'root' },
					options: {},
				},
				credentials,
			),
		],
	},
];
