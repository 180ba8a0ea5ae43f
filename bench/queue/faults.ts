import type { AgentService } from '../../dev/agent-service/server.ts';
import { row, say } from '../channel/text.ts';
import { pause, until } from '../channel/waiting.ts';
import { reportRatio } from '../n8n.ts';
import { type Cluster, concurrency } from './cluster.ts';
import type { Lane } from './lanes.ts';
import { type Account, Ledger, settled } from './ledger.ts';

const seconds = 20;
/** Of each lane. More would fill the processors of a small machine, and then nothing could be told apart. */
const perSecond = 1;
const faultAfterSeconds = 5;

export interface Lanes {
	readonly ours: Lane;
	readonly control: Lane;
	readonly trigger: Lane;
}

interface Traffic {
	readonly accounts: Readonly<Record<'ours' | 'control' | 'trigger', Account>>;
	readonly sent: number;
}

/** A fault under traffic: what is lost or done twice by our nodes, and by n8n's own in the same run. */
export async function faults(cluster: Cluster, agent: AgentService, lanes: Lanes): Promise<void> {
	say(
		`\nFaults: ${seconds} s of ${perSecond} execution(s) a second of each lane, ${lanes.ours.steps} calls each; the fault after ${faultAfterSeconds} s`,
	);
	const killed = await traffic(cluster, agent, lanes, async () => {
		await cluster.endWorker('SIGKILL');
		await cluster.addWorker();
	});
	describe('a worker killed', killed);
	const lost = Object.values(killed.accounts).reduce((sum, account) => sum + account.lost, 0);
	reportRatio('a worker killed: lost / what it carried out at once', lost / concurrency, { atMost: 1 });

	const cut = await traffic(cluster, agent, lanes, () => cluster.cutRedis(5000));
	describe('Redis unreachable for 5 s', cut);
	reportRatio(
		'Redis unreachable: lost by ours and the trigger, beyond the control',
		Math.max(0, cut.accounts.ours.lost + cut.accounts.trigger.lost - 2 * cut.accounts.control.lost),
		{ atMost: 0 },
	);

	const restarted = await traffic(cluster, agent, lanes, () => cluster.restartMain());
	describe('main restarted', restarted);
	const { ours, control, trigger } = restarted.accounts;
	reportRatio('main restarted: lost by ours, beyond the control', Math.max(0, ours.lost - control.lost), {
		atMost: 0,
	});
	reportRatio(
		'main restarted: messages without a channel / webhooks refused',
		trigger.refused / Math.max(1, control.refused),
		{ atMost: 1.25 },
	);
	const twice = [killed, cut, restarted].flatMap(({ accounts }) => [accounts.ours, accounts.trigger]);
	reportRatio(
		'calls of ours made twice in all faults',
		twice.reduce((sum, account) => sum + account.twice, 0),
		{ atMost: 0 },
	);
}

let runs = 0;

async function traffic(
	cluster: Cluster,
	agent: AgentService,
	lanes: Lanes,
	fault: () => Promise<void>,
): Promise<Traffic> {
	const ours = new Ledger(lanes.ours, agent);
	const control = new Ledger(lanes.control, agent);
	const trigger = new Ledger(lanes.trigger, agent);
	const session = lanes.trigger.name;
	await until('the channel', () => agent.openSockets(session) === 1);
	agent.requests.length = 0;
	runs++;
	const { url } = cluster.main;
	const posts: Promise<void>[] = [];
	let sent = 0;
	let underway: Promise<void> | undefined;
	const start = performance.now();
	// Goes on until the fault is over, and then as long as it went before.
	let end = seconds;
	for (; performance.now() - start < end * 1000; sent++) {
		const id = `fault ${runs}-${sent}`;
		posts.push(ours.post(url, id), control.post(url, id));
		if (agent.send(session, { id }) > 0) trigger.accepted.add(id);
		else trigger.refused++;
		if (sent === faultAfterSeconds * perSecond) {
			end = Infinity;
			underway = fault().then(() => {
				end = (performance.now() - start) / 1000 + seconds - faultAfterSeconds;
			});
		}
		await pause(1000 / perSecond);
	}
	await underway;
	await Promise.all(posts);
	await settled(agent, [ours, control, trigger], 20);
	return {
		sent,
		accounts: { ours: ours.account(), control: control.account(), trigger: trigger.account() },
	};
}

const names = {
	control: 'HTTP Request node (n8n)',
	ours: 'Agent Execute',
	trigger: 'Agent Session Trigger',
} as const;

function describe(fault: string, { accounts, sent }: Traffic): void {
	say(`${fault}: ${sent} sent to each`);
	for (const lane of ['control', 'ours', 'trigger'] as const) {
		const { accepted, refused, lost, twice } = accounts[lane];
		const told = lane === 'trigger' ? 'sent while no channel was open' : 'refused to the sender';
		row(`  ${names[lane]}`, `${accepted} accepted, ${refused} ${told}, ${lost} lost, ${twice} calls twice`);
	}
}
