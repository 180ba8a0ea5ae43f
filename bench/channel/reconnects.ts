// How 50 sessions reconnect in 50 workflows and, at the same time, 50 in one node, all with one credential.
import { pause, until } from '../n8n.ts';
import { reportRatio, say } from '../report.ts';
import { type Station, withStation } from './station.ts';

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
	await Promise.all(
		Array.from({ length: sessions }, async (_, n) => await station.ours(`own ${n}`)),
	);
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
	reportRatio(`${sessions} ${name}: most attempts in any 100 ms`, mostWithin(attempts, 100), {
		atMost: 10,
	});
}

function mostWithin(times: readonly number[], milliseconds: number): number {
	return Math.max(
		...times.map(
			(first) => times.filter((one) => one >= first && one < first + milliseconds).length,
		),
	);
}
