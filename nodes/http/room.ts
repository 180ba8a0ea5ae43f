import { getHeapStatistics } from 'node:v8';

import { processSlot } from '../items/processSlot';
import { BodyError } from './body';
import { parsingCost, parsingCostInParts } from './jsonCost';

/** Of the heap, for one answer. */
const mostOfHeap = 1 / 4;
/** Of the heap, for all answers that are being read or parsed. */
const mostInFlight = 1 / 2;
/** Of the heap, with all else that is in it. */
const fullHeap = 0.85;
/** `JSON.parse` cannot be interrupted: what costs more holds up all of n8n, its timers and its answers, for more than half a second. */
export const mostAtOnce = 128 * 1024 * 1024;

/** One for the process, which n8n shares between all workflows. */
const ledger = () => processSlot('answersInFlight', () => ({ bytes: 0 }));

/** Bytes that answers in flight take now. */
export const bytesInFlight = (): number => ledger().bytes;

/** The memory of one answer, from its first byte until nobody needs it any more: what it holds counts for all. */
export class Room {
	#held = 0;

	/** @throws BodyError `noRoom` when there is none beside the other answers */
	hold(bytes: number): void {
		const { heap_size_limit: limit } = getHeapStatistics();
		if (ledger().bytes + bytes > limit * mostInFlight) throw new BodyError('noRoom');
		this.#add(bytes);
	}

	/**
	 * For what parsing makes of an answer.
	 * @param most of memory, in bytes
	 * @throws BodyError `tooCostly`, `noRoom`
	 */
	async holdParsed(json: Buffer, most = Infinity): Promise<void> {
		const { heap_size_limit: limit } = getHeapStatistics();
		const cost = await parsingCostInParts(json, Math.min(most, limit * mostOfHeap));
		if (cost > Math.min(most, limit * mostOfHeap)) throw new BodyError('tooCostly');
		if (getHeapStatistics().used_heap_size + ledger().bytes + cost > limit * fullHeap)
			throw new BodyError('noRoom');
		this.hold(cost);
	}

	/** Idempotent. */
	release(): void {
		this.#add(-this.#held);
	}

	#add(bytes: number): void {
		this.#held += bytes;
		ledger().bytes += bytes;
	}
}

/** Whether n8n, which is one process for all of its workflows, can parse a message at once, in memory and in time. */
export function canParse(json: Buffer): boolean {
	const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
	const most = Math.min(mostAtOnce, limit * mostOfHeap, limit * fullHeap - used - bytesInFlight());
	return parsingCost(json, most) <= most;
}
