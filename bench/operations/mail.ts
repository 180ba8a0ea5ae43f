import { oneItem, paragraph, rivalNode, usualTarget, type Contest } from './contest.ts';

const rival = "n8n's Gmail node";
const gmail = rivalNode('gmail', 2.1, 'gmailOAuth2', { resource: 'message' });
const subject = '=Report {{ $json.n }}';

const send = (operation: string, options: object): Contest => ({
	operation,
	rival,
	ours: () => ({
		...{ resource: 'mail', operation: 'send', to: 'ann@example.com', subject, body: paragraph, options },
	}),
	theirs: (_, credentials) =>
		gmail(
			{
				...{ operation: 'send', sendTo: 'ann@example.com', subject, emailType: 'text', message: paragraph },
				options: { appendAttribution: false, ...options },
			},
			credentials,
		),
});

/** The Gmail node asks for one page of at most 500, unless it takes all. */
const list = (given: Pick<Contest, 'operation' | 'needs' | 'ours'>, filters: object): Contest => ({
	...given,
	rival,
	input: oneItem,
	theirs: (size, credentials) =>
		gmail({ operation: 'getAll', returnAll: size > 500, limit: size, simple: true, filters }, credentials),
	// The requests run side by side, of which one alone gains nothing.
	atMost: (size) => (size === 100 ? 0.12 : usualTarget),
});

export const listing = list(
	{
		operation: 'Mail: List',
		// More than are asked for, as in a real mailbox, unless n8n's node takes them all.
		needs: (size) => ({ mails: size > 500 ? size : size + 50 }),
		ours: (size) => ({ resource: 'mail', operation: 'list', maxResults: size }),
	},
	{},
);

export const mails: readonly Contest[] = [
	send('Mail: Send', {}),
	send('Mail: Send, with a sender name', { senderName: 'Ann' }),
	{
		operation: 'Mail: Read',
		rival,
		needs: (size) => ({ mails: size }),
		input: (_, { messageIds }) => JSON.stringify(messageIds.map((messageId) => ({ messageId }))),
		ours: () => ({ resource: 'mail', operation: 'read', messageId: '={{ $json.messageId }}' }),
		theirs: (_, credentials) =>
			gmail(
				{ operation: 'get', messageId: '={{ $json.messageId }}', simple: false, options: {} },
				credentials,
			),
	},
	listing,
	list(
		{
			operation: 'Mail: Search',
			needs: (size) => ({ mails: size }),
			ours: (size) => ({
				...{ resource: 'mail', operation: 'search', query: 'subject:report', maxResults: size },
			}),
		},
		{ q: 'subject:report' },
	),
];
