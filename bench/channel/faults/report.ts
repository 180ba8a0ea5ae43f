import { median, reportRatio } from '../../n8n.ts';
import { percentile } from '../probe.ts';
import { row, say } from '../text.ts';
import type { Fault } from './fault.ts';
import { type Manner, manners } from './line.ts';
import type { Reading } from './reading.ts';
import type { Outcome } from './rounds.ts';
import { distance, lineCounts, paceSeconds, streamedPerSecond } from './world.ts';

export function explain(): void {
	say(
		`Sessions of three kinds of server, a workflow each, a message every ${paceSeconds} s or ${streamedPerSecond} a second:
  waits    sends each message once, while there is a channel, and keeps what it has meanwhile (${lineCounts.waits} sessions)
  streams  the same, many messages over ${distance.milliseconds} ms of network (${lineCounts.streams} session, in batches)
  repeats  sends its last 100 messages again on every channel that opens (${lineCounts.repeats} sessions, with a deduplication field)
lost: the server has sent it, and no execution was started for it. What was on its way into a broken link is shown, but
has no target where the server does not send it again.
noticed: from the fault to "disconnected". over: from then, or from the end of the fault when that is later, to "reconnected".
Both as median / p99 of n, in seconds.`,
	);
}

export function describe(fault: Fault, outcomes: readonly Outcome[]): void {
	const readings = outcomes.flatMap((outcome) => outcome.readings);
	say('');
	row(
		fault.name,
		...times('noticed', readings, 'noticed'),
		...times('over', readings, overName[fault.overBy]),
	);
	for (const manner of manners) {
		const { sent, lost, duplicated, unmarked } = total(readings, [manner]);
		const figures = `${sent} sent, ${lost} lost, ${duplicated} twice, ${unmarked} holes without a mark`;
		row(`  ${manner}`, figures);
	}
	const sum = (key: 'unfinished' | 'failed') => outcomes.reduce((all, outcome) => all + outcome[key], 0);
	row('  executions', `${sum('failed')} failed, ${sum('unfinished')} without an end`);
	target(`lost (${fault.lossless.join(', ')})`, total(readings, fault.lossless).lost, 0);
	target(`twice (${fault.single.join(', ')})`, total(readings, fault.single).duplicated, 0);
	if (fault.noticedWithinSeconds === undefined) return;
	const noticed = readings.map((reading) => reading.noticed ?? Infinity);
	target('noticed, seconds', Math.max(...noticed), fault.noticedWithinSeconds);
}

const overName = { event: 'over', opening: 'channel open', execution: 'worked off' };

function target(name: string, value: number, atMost: number): void {
	reportRatio(`  ${name}`, value, { atMost });
}

function times(key: 'noticed' | 'over', readings: readonly Reading[], name: string): string[] {
	const all = readings.map((reading) => reading[key]).filter((time) => time !== undefined);
	if (all.length === 0) return [];
	return [`${name} ${median(all).toFixed(2)} / ${percentile(all, 0.99).toFixed(2)} (n ${all.length})`];
}

function total(readings: readonly Reading[], of: readonly Manner[]) {
	const sum = { sent: 0, lost: 0, duplicated: 0, unmarked: 0 };
	for (const reading of readings.filter(({ line }) => of.includes(line.manner))) {
		for (const key of ['sent', 'lost', 'duplicated', 'unmarked'] as const) sum[key] += reading[key];
	}
	return sum;
}
