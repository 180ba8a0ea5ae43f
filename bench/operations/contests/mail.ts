import { node } from '../../../dev/n8n/nodes.ts';
import { nothing, numbered, paragraph, type Contest, type Credentials } from './contest.ts';

const gmail = (parameters: object, { gmailOAuth2 }: Credentials) =>
	node('Step', 'n8n-nodes-base.gmail', { ...parameters }, { typeVersion: 2.1, credentials: { gmailOAuth2 } });

export const mails: readonly Contest[] = [
	{
		operation: 'Mail: Send',
		rival: "n8n's Gmail node",
		needs: () => nothing,
		items: numbered,
		returns: (size) => size,
		ours: () => ({
			resource: 'mail',
			operation: 'send',
			to: 'ann@example.com',
			subject: '=Report {{ $json.n }}',
			body: paragraph,
		}),
		theirs: (_, credentials) => [
			gmail(
				{
					resource: 'message',
					operation: 'send',
					sendTo: 'ann@example.com',
					subject: '=Report {{ $json.n }}',
					emailType: 'text',
					message: paragraph,
					options: { appendAttribution: false },
				},
				credentials,
			),
		],
	},
	{
		operation: 'Mail: Send, with a sender name',
		rival: "n8n's Gmail node",
		needs: () => nothing,
		items: numbered,
		returns: (size) => size,
		ours: () => ({
			resource: 'mail',
			operation: 'send',
			to: 'ann@example.com',
			subject: '=Report {{ $json.n }}',
			body: paragraph,
			options: { senderName: 'Ann' },
		}),
		theirs: (_, credentials) => [
			gmail(
				{
					resource: 'message',
					operation: 'send',
					sendTo: 'ann@example.com',
					subject: '=Report {{ $json.n }}',
					emailType: 'text',
					message: paragraph,
					options: { appendAttribution: false, senderName: 'Ann' },
				},
				credentials,
			),
		],
	},
	{
		operation: 'Mail: Read',
		rival: "n8n's Gmail node",
		needs: (size) => ({ ...nothing, mails: size }),
		items: (_, { messageIds }) => messageIds.map((messageId) => ({ messageId })),
		returns: (size) => size,
		ours: () => ({ resource: 'mail', operation: 'read', messageId: '={{ $json.messageId }}' }),
		theirs: (_, credentials) => [
			gmail(
				{
					resource: 'message',
					operation: 'get',
					messageId: '={{ $json.messageId }}',
					simple: false,
					options: {},
				},
				credentials,
			),
		],
	},
	{
		operation: 'Mail: List',
		rival: "n8n's Gmail node",
		// More than are asked for, unless n8n's node takes them all.
		needs: (size) => ({ ...nothing, mails: size > 500 ? size : size + 50 }),
		items: () => [{}],
		returns: (size) => size,
		ours: (size) => ({ resource: 'mail', operation: 'list', maxResults: size }),
		theirs: (size, credentials) => [
			gmail(
				{
					resource: 'message',
					operation: 'getAll',
					// The node asks for one page only, and a page has at most 500.
					returnAll: size > 500,
					limit: size,
					simple: true,
					filters: {},
				},
				credentials,
			),
		],
	},
	{
		operation: 'Mail: Search',
		rival: "n8n's Gmail node",
		needs: (size) => ({ ...nothing, mails: size }),
		items: () => [{}],
		returns: (size) => size,
		ours: (size) => ({ resource: 'mail', operation: 'search', query: 'subject:report', maxResults: size }),
		theirs: (size, credentials) => [
			gmail(
				{
					resource: 'message',
					operation: 'getAll',
					returnAll: size > 500,
					limit: size,
					simple: true,
					filters: { q: 'subject:report' },
				},
				credentials,
			),
		],
	},
];
