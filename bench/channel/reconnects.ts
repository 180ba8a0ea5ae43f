// How 50 sessions reconnect in 50 workflows and, at the same time, 50 in one node, all with one credential; and
// how long a trigger has no channel while its workflow is published again.
import { pause, until } from '../n8n.ts';
import { report, reportRatio, say } from '../report.ts';
import { GapWatch } from './probe.ts';
import { type Station, type Stored, withStation } from './station.ts';

const sessions = 50;
const outageSeconds = 20;

export async function reconnects(): Promise<void> {
	let isAway = false;
	const serviceOptions = { upgrade: () => (isAway ? { status: 503 } : undefined) };
	await withStation(async (station) => {
		say(
			`${sessions} sessions whose service is away: it closes all channels (1012), then answers 503 for ${outageSeconds} s`,
		);
		await listen(station);
		const { upgrades } = station.service;
		upgrades.length = 0;
		isAway = true;
		const lost = Date.now();
		station.service.closeChannels(1012);
		await pause(outageSeconds * 1000);
		isAway = false;
		const back = Date.now();
		await until('all channels', () => station.service.countOpenChannels() === 2 * sessions);
		const attemptsOf = (prefix: string) =>
			upgrades
				.filter(({ query }) => query.sessionId?.startsWith(prefix))
				.map(({ receivedAt }) => receivedAt)
				.sort((a, b) => a - b);
		describe('in one node', attemptsOf('one'), lost, back);
		describe('in 50 workflows', attemptsOf('own'), lost, back);
	}, serviceOptions);
}

async function listen(station: Station): Promise<void> {
	const sessionIds = Array.from({ length: sessions }, (_, n) => `one ${n}`);
	await station.ours('one node', {}, sessionIds);
	await Promise.all(Array.from({ length: sessions }, async (_, n) => await station.ours(`own ${n}`)));
}

/** @param attempts times of arrival, in milliseconds since 1970, oldest first */
function describe(name: string, attempts: readonly number[], lost: number, back: number): void {
	const perMinute = (attempts.filter((at) => at < back).length / outageSeconds) * 60;
	const last = attempts.at(-1) ?? NaN;
	const tens = Array.from({ length: Math.ceil((last - lost) / 10_000) }, (_, ten) => {
		const from = lost + ten * 10_000;
		return attempts.filter((at) => at >= from && at < from + 10_000).length;
	});
	say(
		`${name}: ${perMinute.toFixed(0)} attempts per minute while it is away; in each 10 s ${tens.join(' ')}; most in any second ${mostWithin(attempts, 1000)}`,
	);
	reportRatio(`${sessions} ${name}: all back, seconds`, (last - back) / 1000, { atMost: 90 });
	reportRatio(`${sessions} ${name}: most attempts in any 100 ms`, mostWithin(attempts, 100), { atMost: 10 });
}

function mostWithin(times: readonly number[], milliseconds: number): number {
	return Math.max(
		...times.map((first) => times.filter((one) => one >= first && one < first + milliseconds).length),
	);
}

const publishingsPerRound = 5;

/** Publishes a workflow again and again, with a message every 10 ms. */
export async function publishings(rounds: number): Promise<void> {
	await withStation(async (station) => {
		const { n8n, service } = station;
		let workflow = await station.ours('again', { batchSize: 100 });
		const traffic = setInterval(() => service.send(workflow.name, { at: Date.now() }), 10);
		const seconds: number[] = [];
		for (let n = 1; n <= rounds * publishingsPerRound; n++) {
			const watch = new GapWatch({ channel: () => service.countOpenChannels(workflow.name) });
			// n8n does not restart a node that has not changed.
			workflow = await changeHeartbeat(station, workflow, 25 + n);
			service.upgrades.length = 0;
			await n8n.api.activate(workflow);
			await until('a new channel', () => service.upgrades.length > 0);
			await until('a channel', () => service.countOpenChannels(workflow.name) === 1);
			seconds.push((await watch.end()).channel);
		}
		clearInterval(traffic);
		report('published again: time without a channel', seconds, 's');
	});
}

async function changeHeartbeat(
	{ n8n }: Station,
	workflow: Stored,
	heartbeatSeconds: number,
): Promise<Stored> {
	const nodes = workflow.nodes.map((node) =>
		node.name === 'Trigger'
			? {
					...node,
					parameters: { ...(node.parameters as object), options: { batchSize: 100, heartbeatSeconds } },
				}
			: node,
	);
	const { id, versionId } = workflow;
	return await n8n.api.request<Stored>('PATCH', `workflows/${id}`, { nodes, versionId });
}
