// 100 emails listed several times within Gmail's quota of a minute, by our node and by n8n's own Gmail node.
import type { Execution } from '../../dev/n8n/n8nApi.ts';
import type { QuotaLimits } from '../../dev/google/quotas.ts';
import { pause } from '../n8n.ts';
import { reportRatio, say } from '../report.ts';
import { listing } from './mail.ts';
import { createSignIns, createStep, execute, type World } from './world.ts';

const mailCount = 100;
/** Half a real one, which is enough for the lists of n8n's node. */
const minute = 30_000;
/** Gmail's documented units per user and minute: 100 emails take 2,005 of them. */
const quota: QuotaLimits = { gmail: 6000, minute };
const lists = 3;
const wanted = lists * mailCount;

export async function listOverQuota(world: World): Promise<void> {
	say(`${lists} lists of ${mailCount} emails in a row, ${quota.gmail} units in ${minute / 1000} s`);
	const credentials = await createSignIns(world.n8n);
	const sides = {
		[listing.rival]: listing.theirs(mailCount, credentials),
		'Workspace node, List': [createStep(listing, mailCount, credentials)],
	};
	let complete = 0;
	for (const [name, steps] of Object.entries(sides)) {
		await world.google.seed({ mails: mailCount + 50 });
		// Each side begins with a whole minute's quota.
		await pause(minute - (Date.now() % minute));
		await world.google.limit(quota);
		complete = 0;
		for (let list = 0; list < lists; list++)
			complete += countListed(await execute(world, `${name}, quota`, '[{}]', steps));
		const { refused } = await world.google.limit({});
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
