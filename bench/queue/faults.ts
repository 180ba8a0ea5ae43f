import { createRequire } from 'node:module';
import path from 'node:path';

import type { AgentService } from '../../dev/agent-service/server.ts';
import { getN8nFolder } from '../../dev/n8n/installN8n.ts';
import { pause, until } from '../n8n.ts';
import { reportRatio, row, say } from '../report.ts';
import { type Cluster, concurrency } from './cluster.ts';
import { type Account, type Lane, type LaneKind, Ledger, untilSettled } from './lanes.ts';

const seconds = 12;
/** Of each lane. More would fill the processors of a small machine, and then nothing could be told apart. */
const perSecond = 1;
const faultAfterSeconds = 5;

type Lanes = Readonly<Record<LaneKind, Lane>>;

interface Traffic {
	readonly accounts: Readonly<Record<LaneKind, Account>>;
	readonly sent: number;
	/** How long each trigger could not be reached. */
	readonly secondsWithout: Readonly<Record<'trigger' | 'triggerControl', number>>;
}

/** A fault under traffic: what is lost or done twice by our nodes, and by n8n's own in the same run. */
export async function faults(cluster: Cluster, agent: AgentService, lanes: Lanes): Promise<void> {
	const redis = connectRedis(cluster.redisPort);
	await faultsUnder({ cluster, agent, lanes, redis }).finally(() => {
		redis.disconnect();
	});
}

interface Place {
	readonly cluster: Cluster;
	readonly agent: AgentService;
	readonly lanes: Lanes;
	readonly redis: Redis;
}

async function faultsUnder(place: Place): Promise<void> {
	const { cluster, lanes } = place;
	say(
		`\nFaults: ${seconds} s of ${perSecond} execution(s) a second of each lane, ${lanes.ours.steps} calls each; the fault after ${faultAfterSeconds} s`,
	);
	const killed = await traffic(place, async () => {
		await cluster.endWorker('SIGKILL');
		await cluster.addWorker();
	});
	describe('a worker killed', killed);
	const lost = Object.values(killed.accounts).reduce((sum, account) => sum + account.lost, 0);
	reportRatio('a worker killed: lost / what it carried out at once', lost / concurrency, {
		atMost: 1,
	});

	const cut = await traffic(place, () => cluster.cutRedis(5000));
	describe('Redis unreachable for 5 s', cut);
	const lostOfOurs = cut.accounts.ours.lost + cut.accounts.trigger.lost;
	const lostOfControls = cut.accounts.control.lost + cut.accounts.triggerControl.lost;
	reportNone(
		'Redis unreachable: lost by ours and the trigger, beyond the controls',
		lostOfOurs - lostOfControls,
	);

	const restarted = await traffic(place, () => cluster.restartMain());
	describe('main restarted', restarted);
	const { secondsWithout } = restarted;
	const { ours, control, trigger, triggerControl } = restarted.accounts;
	reportNone('main restarted: lost by ours, beyond the control', ours.lost - control.lost);
	reportNone(
		'main restarted: lost by the session trigger, beyond the Redis Trigger',
		trigger.lost - triggerControl.lost,
	);
	// n8n stops triggers before its webhooks and starts them after those, so that webhooks cannot be the measure.
	reportRatio(
		"main restarted: time without a channel / without n8n's Redis Trigger",
		secondsWithout.trigger / secondsWithout.triggerControl,
		{ atMost: 1.1 },
	);
	const twice = [killed, cut, restarted].flatMap(({ accounts }) => [
		accounts.ours,
		accounts.trigger,
	]);
	reportNone(
		'calls of ours made twice in all faults',
		twice.reduce((sum, account) => sum + account.twice, 0),
	);
}

function reportNone(name: string, count: number): void {
	reportRatio(name, Math.max(0, count), { atMost: 0 });
}

let runs = 0;

async function traffic(place: Place, fault: () => Promise<void>): Promise<Traffic> {
	const { cluster, agent, lanes, redis } = place;
	const ledgers = mapEach(lanes, (lane) => new Ledger(lane, agent));
	const session = lanes.trigger.name;
	await until('the channel', () => agent.countOpenChannels(session) === 1);
	agent.requests.length = 0;
	runs++;
	const { url } = cluster.main;
	const posts: Promise<void>[] = [];
	const endWatch = watchGaps({
		trigger: () => agent.countOpenChannels(session),
		triggerControl: async () => await redis.pubsub('NUMPAT'),
	});
	let sent = 0;
	let underway: Promise<void> | undefined;
	const start = performance.now();
	// Goes on until the fault is over, and then for the rest of the time.
	let end = seconds;
	for (; performance.now() - start < end * 1000; sent++) {
		const id = `fault ${runs}-${sent}`;
		posts.push(ledgers.ours.post(url, id), ledgers.control.post(url, id));
		ledgers.trigger.count(id, agent.send(session, { id }));
		const listeners = await redis.publish(lanes.triggerControl.name, JSON.stringify({ id }));
		ledgers.triggerControl.count(id, listeners);
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
	// Longer than n8n takes to notice a dead worker.
	await untilSettled(agent, Object.values(ledgers), 15);
	const secondsWithout = await endWatch();
	return { sent, secondsWithout, accounts: mapEach(ledgers, (ledger) => ledger.account()) };
}

function mapEach<From, To>(all: Readonly<Record<LaneKind, From>>, change: (one: From) => To) {
	const entries = Object.entries(all).map(([kind, one]) => [kind, change(one)] as const);
	return Object.fromEntries(entries) as Record<LaneKind, To>;
}

const names = {
	control: 'HTTP Request node (n8n)',
	ours: 'Agent Execute',
	trigger: 'Agent Session Trigger',
	triggerControl: 'Redis Trigger (n8n)',
} as const;

function describe(fault: string, { accounts, sent, secondsWithout }: Traffic): void {
	say(`${fault}: ${sent} sent to each`);
	for (const lane of ['control', 'ours', 'triggerControl', 'trigger'] as const) {
		const { accepted, refused, lost, twice } = accounts[lane];
		const told =
			lane === 'trigger' || lane === 'triggerControl'
				? `sent while nobody listened (${secondsWithout[lane].toFixed(1)} s)`
				: 'refused to the sender';
		row(
			`  ${names[lane]}`,
			`${accepted} accepted, ${refused} ${told}, ${lost} lost, ${twice} calls twice`,
		);
	}
}

/** As much of a client as is needed to publish to the channels of n8n's own Redis Trigger. */
interface Redis {
	/** @returns number of subscribers that got the message */
	publish(channel: string, message: string): Promise<number>;
	/** Number of pattern subscriptions; each running Redis Trigger holds one. */
	pubsub(subcommand: 'NUMPAT'): Promise<number>;
	disconnect(): void;
}

/** Connects with the client that n8n brings. */
function connectRedis(port: number): Redis {
	const require = createRequire(path.join(getN8nFolder(), 'package.json'));
	const { Redis } = require('ioredis') as { Redis: new (port: number, host: string) => Redis };
	return new Redis(port, '127.0.0.1');
}

const watchMilliseconds = 20;

/**
 * Adds up the seconds in which nobody listens, by name of the listener.
 * @param listeners how many listen now
 * @returns a function that ends the watch and gives the seconds
 */
function watchGaps<Name extends string>(
	listeners: Readonly<Record<Name, () => number | Promise<number>>>,
): () => Promise<Record<Name, number>> {
	const names = Object.keys(listeners) as Name[];
	const seconds = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
	const watch = { isOver: false };
	const watching = (async () => {
		let last = performance.now();
		while (!watch.isOver) {
			await pause(watchMilliseconds);
			const now = performance.now();
			for (const name of names)
				if ((await listeners[name]()) === 0) seconds[name] += (now - last) / 1000;
			last = now;
		}
		return seconds;
	})();
	return async () => {
		watch.isOver = true;
		return await watching;
	};
}
