import type { Execution } from '../../dev/n8n/n8nApi.ts';
import type { QuotaLimits } from '../../dev/google/quotas.ts';
import { createRun, pause, workspaceStep } from '../n8n.ts';
import { reportRatio, say } from '../report.ts';
import { oneItem, paragraph, rivalNode, usualTarget, type Contest } from './contest.ts';
import type { World } from './world.ts';

const rival = "n8n's Gmail node";
const gmail = rivalNode('gmail', 2.1, 'gmailOAuth2', { resource: 'message' });
const subject = '=Report {{ $json.n }}';

const send = (operation: string, options: object): Contest => ({
	operation,
	rival,
	ours: () => ({
		resource: 'mail',
		operation: 'send',
		to: 'ann@example.com',
		subject,
		body: paragraph,
		options,
	}),
	theirs: () =>
		gmail({
			operation: 'send',
			sendTo: 'ann@example.com',
			subject,
			emailType: 'text',
			message: paragraph,
			options: { appendAttribution: false, ...options },
		}),
});

/** The Gmail node asks for one page of at most 500, unless it takes all. */
const list = (given: Pick<Contest, 'operation' | 'needs' | 'ours'>, filters: object): Contest => ({
	...given,
	rival,
	input: oneItem,
	theirs: (size) =>
		gmail({ operation: 'getAll', returnAll: size > 500, limit: size, simple: true, filters }),
	// The requests run side by side, of which one alone gains nothing.
	atMost: (size) => (size === 100 ? 0.12 : usualTarget),
});

const listing = list(
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
	send('Mail: Send, with a sender name', { senderOptions: { senderName: 'Ann' } }),
	{
		operation: 'Mail: Read',
		rival,
		needs: (size) => ({ mails: size }),
		input: (_, { messageIds }) =>
			JSON.stringify(messageIds.map((messageId) => ({ messageId }))),
		ours: () => ({ resource: 'mail', operation: 'read', messageId: '={{ $json.messageId }}' }),
		theirs: () =>
			gmail({
				operation: 'get',
				messageId: '={{ $json.messageId }}',
				simple: false,
				options: {},
			}),
	},
	listing,
	{
		...listing,
		operation: 'Mail: List, with bodies',
		ours: (size) => ({
			...{ resource: 'mail', operation: 'list', maxResults: size },
			options: { includeBody: true },
		}),
		theirs: (size) =>
			gmail({
				...{ operation: 'getAll', returnAll: size > 500, limit: size, simple: false },
				...{ filters: {}, options: {} },
			}),
		// At 20 ms of latency; five emails at once, and n8n's node one after another.
		atMost: (size) => (size === 100 ? 0.3 : usualTarget),
	},
	list(
		{
			operation: 'Mail: Search',
			needs: (size) => ({ mails: size }),
			ours: (size) => ({
				resource: 'mail',
				operation: 'search',
				query: 'subject:report',
				maxResults: size,
			}),
		},
		{ q: 'subject:report' },
	),
];

const mailCount = 100;
/** Half a real one, which is enough for the lists of n8n's node. */
const minute = 30_000;
/** Gmail's documented units per user and minute: 100 emails take 2,005 of them. */
const quota: QuotaLimits = { gmail: 6000, minute };
const lists = 3;
const wanted = lists * mailCount;

/** Lists 100 emails several times within Gmail's quota of a minute, by our node and by n8n's own Gmail node. */
export async function listOverQuota({ n8n, google, credentials }: World): Promise<void> {
	say(
		`${lists} lists of ${mailCount} emails in a row, ${quota.gmail} units in ${minute / 1000} s`,
	);
	const sides = {
		[listing.rival]: listing.theirs(mailCount)(credentials),
		'Workspace node, List': [workspaceStep(listing.ours(mailCount), credentials)],
	};
	let complete = 0;
	for (const [name, steps] of Object.entries(sides)) {
		await google.seed({ mails: mailCount + 50 });
		// Each side begins with a whole minute's quota.
		await pause(minute - (Date.now() % minute));
		await google.limit(quota);
		complete = 0;
		const stored = await createRun(n8n.api, `${name}, quota`, oneItem(), steps);
		for (let run = 0; run < lists; run++) complete += countListed(await n8n.api.run(stored));
		const { refused } = await google.limit({});
		say(`${name}: ${complete} of ${wanted} emails, ${refused} requests refused`);
	}
	// The Gmail node gives up at its first refusal; Workspace, the last here, waits and asks again.
	const name = 'Emails of Workspace / of those asked for, over the quota';
	reportRatio(name, complete / wanted, { atLeast: 1 });
}

function countListed({ resultData }: Execution): number {
	const items = resultData.runData.Step?.at(-1)?.data?.main?.[0] ?? [];
	return items.filter(({ json }) => json['subject'] ?? json['Subject']).length;
}
