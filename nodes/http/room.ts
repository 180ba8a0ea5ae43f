import { getHeapStatistics } from 'node:v8';

import { processSlot } from '../core/processSlot';
import { BodyError } from './body';
import { parsingCost, parsingCostInParts } from './jsonCost';

/** Fraction of the heap that one answer may use. */
const mostOfHeap = 1 / 4;
/** Fraction of the heap for all answers that are being read or parsed. */
const mostInFlight = 1 / 2;
/** Fraction of the heap that may be used in total, including everything else in it. */
const fullHeap = 0.85;
/**
 * Bytes. `JSON.parse` cannot be interrupted: above this cost, it blocks all of n8n, its timers and its
 * answers, for more than half a second.
 */
export const mostAtOnce = 128 * 1024 * 1024;

/** Shared by the process, because all workflows run in it. */
const ledger = () => processSlot('answersInFlight', () => ({ bytes: 0 }));

/** Bytes that answers currently in flight use. */
export const bytesInFlight = (): number => ledger().bytes;

/**
 * The memory of one answer, from its first byte until it is no longer needed. What it holds counts against
 * the limit for all answers.
 */
export class Room {
	#held = 0;

	/** @throws BodyError `noRoom` if there is no room next to the other answers */
	hold(bytes: number): void {
		const { heap_size_limit: limit } = getHeapStatistics();
		if (ledger().bytes + bytes > limit * mostInFlight) throw new BodyError('noRoom');
		this.#add(bytes);
	}

	/**
	 * Reserves memory for the result of parsing an answer.
	 * @param most limit for its memory, in bytes
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

	/** May be called more than once. */
	release(): void {
		this.#add(-this.#held);
	}

	#add(bytes: number): void {
		this.#held += bytes;
		ledger().bytes += bytes;
	}
}

/**
 * Whether a message can be parsed at once, considering memory and time: n8n is one process for all of its
 * workflows.
 */
export function canParse(json: Buffer): boolean {
	const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
	const most = Math.min(mostAtOnce, limit * mostOfHeap, limit * fullHeap - used - bytesInFlight());
	return parsingCost(json, most) <= most;
}
