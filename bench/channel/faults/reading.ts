import { balanceOf } from '../../../dev/chaos/balance.ts';
import type { Probe, Started } from '../probe.ts';
import type { Fault, Strike } from './fault.ts';
import type { Line } from './line.ts';

interface Message {
	readonly receivedAt: string;
	readonly sequence: number;
	readonly gapMs?: number;
	readonly message: { readonly n: number; readonly id: string };
}

interface Event {
	readonly event: string;
	/** ISO 8601. */
	readonly at: string;
}

type Item = Readonly<Record<string, unknown>>;

/** What happened to one session in one round. Times in seconds; undefined if there is no evidence of them. */
export interface Reading {
	readonly line: Line;
	readonly noticed: number | undefined;
	readonly over: number | undefined;
	readonly sent: number;
	/** Number of messages for which no execution was started. */
	readonly lost: number;
	readonly duplicated: number;
	/** Gaps that no message reports. */
	readonly unmarked: number;
}

/** What n8n has executed since the round began. */
export class Executed {
	readonly #started: readonly Started[];
	readonly #bySession = new Map<unknown, Item[]>();
	readonly #failed: ReturnType<Probe['failed']>;

	constructor(probe: Probe, after: number) {
		this.#started = probe.startedAfter(after);
		this.#failed = probe.failed(after);
		for (const item of this.#started.flatMap(({ items }) => items)) {
			const known = this.#bySession.get(item.sessionId);
			if (known) known.push(item);
			else this.#bySession.set(item.sessionId, [item]);
		}
	}

	get count(): number {
		return this.#started.length;
	}

	/** Executions that were started and did not end properly. */
	get unfinished(): number {
		return this.#started.filter(({ status }) => status !== 'success').length;
	}

	get failed(): number {
		return this.#failed.length;
	}

	hasLast(line: Line): boolean {
		return this.#messages(line).some(({ message }) => message.n === line.made);
	}

	reading(line: Line, fault: Fault, strike: Strike): Reading {
		const messages = this.#messages(line);
		const { lost, duplicated } = balanceOf(messages);
		const noticedAt = this.#noticedAt(line, fault, strike);
		const overAt = this.#overAt(line, fault, strike);
		const from = Math.max(strike.healed, fault.overBy === 'event' ? (noticedAt ?? 0) : 0);
		return {
			line,
			noticed: noticedAt === undefined ? undefined : (noticedAt - strike.struck) / 1000,
			over: overAt === undefined ? undefined : (overAt - from) / 1000,
			sent: line.made,
			lost,
			duplicated,
			unmarked: balanceOf(withoutRepeats(messages)).unmarked,
		};
	}

	#noticedAt(line: Line, { noticedBy }: Fault, { struck }: Strike): number | undefined {
		if (noticedBy === 'event') return this.#eventAt(line, 'disconnected', struck);
		if (noticedBy === undefined) return undefined;
		return this.#failed.find(({ workflowId }) => workflowId === line.workflow?.id)?.at;
	}

	#overAt(line: Line, { overBy }: Fault, { struck, healed }: Strike): number | undefined {
		if (overBy === 'event') return this.#eventAt(line, 'reconnected', struck);
		if (overBy === 'opening') return line.openings.find((at) => at >= healed);
		const ends = this.#started
			.filter(
				({ stoppedAt, items }) => stoppedAt > healed && items.some((item) => hadToWait(line, item, healed)),
			)
			.map(({ stoppedAt }) => stoppedAt);
		return ends.length === 0 ? undefined : Math.max(...ends);
	}

	#eventAt(line: Line, name: string, since: number): number | undefined {
		return this.#items(line)
			.filter((item): item is Item & Event => item.event === name)
			.map(({ at }) => Date.parse(at))
			.find((at) => at >= since);
	}

	/** In order of arrival. */
	#messages(line: Line): Message[] {
		return this.#items(line)
			.filter((item) => isMessageOf(line, item))
			.sort((a, b) => Date.parse(a.receivedAt) - Date.parse(b.receivedAt) || a.sequence - b.sequence);
	}

	#items({ sessionId }: Line): readonly Item[] {
		return this.#bySession.get(sessionId) ?? [];
	}
}

function isMessageOf(line: Line, item: Item): item is Item & Message {
	const message = item.message as Message['message'] | undefined;
	return item.sessionId === line.sessionId && message !== undefined && line.isOfRound(message.id);
}

const hadToWait = (line: Line, item: Item, healed: number) =>
	isMessageOf(line, item) && Date.parse(item.receivedAt) < healed;

function withoutRepeats(messages: readonly Message[]): Message[] {
	const seen = new Set<number>();
	return messages.filter(({ message: { n } }) => !seen.has(n) && seen.add(n));
}
