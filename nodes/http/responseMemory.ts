import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';

import { getGlobalSingleton } from '../core/runtime';
import { BodyError, mebibyte } from './body';

/** Bytes of memory beside the characters, measured with V8 in Node 24. `hashTableKey` is for each key beyond `maxFastKeys`. */
const parsingCosts = { object: 64, list: 40, entry: 12, text: 24, hashTableKey: 400 };
/** V8 stores an object with more keys as a hash table. Parsing and copying it take a microsecond per key: 800,000 keys stop n8n for seconds. */
const maxFastKeys = 1_000;
/** The limit for levels of objects and lists in an item. n8n copies data by recursion, which overflows the stack at some thousands of levels. */
const maxItemLevels = 1_000;

const [brace, braceEnd] = [0x7b, 0x7d];
const [bracket, bracketEnd] = [0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
const [quote, backslash] = [0x22, 0x5c];

/** Scans JSON. Yields after each mebibyte, so that a step takes only milliseconds. @returns the cost in bytes; Infinity beyond `maxLevels` */
function* scanJson(json: Buffer, maxCost: number, maxLevels: number): Generator<undefined, number> {
	let position = 0;
	let cost = json.length;
	let level = 0;
	let isInText = false;
	/** The number of keys by level. An index beyond the end is harmless: a typed array ignores a write there and reads undefined. */
	const keyCounts = new Uint32Array(maxItemLevels);
	while (position < json.length && cost <= maxCost) {
		if (position > 0) yield;
		const end = Math.min(json.length, position + mebibyte);
		for (; position < end; position++) {
			const byte = json[position];
			if (isInText) {
				if (byte === backslash) position++;
				else if (byte === quote) isInText = false;
			} else if (byte === quote) {
				isInText = true;
				cost += parsingCosts.text;
			} else if (byte === brace || byte === bracket) {
				cost += byte === brace ? parsingCosts.object : parsingCosts.list;
				if (++level > maxLevels) cost = Infinity;
				keyCounts[level] = 0;
			} else if (byte === braceEnd || byte === bracketEnd) level--;
			else if (byte === colon) {
				const count = (keyCounts[level] ?? 0) + 1;
				keyCounts[level] = count;
				if (count > maxFastKeys) cost += parsingCosts.hashTableKey;
			} else if (byte === comma) cost += parsingCosts.entry;
		}
	}
	return cost;
}

/** Estimates the bytes of memory that parsing takes: 1 to 40 times the length of the JSON. The scan stops when it finds more than `maxCost`. */
export function estimateParsingCost(
	json: Buffer,
	maxCost = Infinity,
	maxLevels = Infinity,
): number {
	const scan = scanJson(json, maxCost, maxLevels);
	let step = scan.next();
	while (!step.done) step = scan.next();
	return step.value;
}

/** Fractions of the heap. `inFlight` is for all responses that are being read or parsed, and `total` for everything in the heap. */
const maxHeapShares = { oneResponse: 1 / 4, inFlight: 1 / 2, total: 0.85 };
/** Limits for data that becomes an item. At a higher cost, `JSON.parse` would block all of n8n for over half a second. */
export const itemParsingLimits = { bytes: 128 * mebibyte, levels: maxItemLevels };

/** The memory that is reserved for all responses in the process, because all workflows run in one process. */
const getReservedMemory = () => getGlobalSingleton('responsesInFlight', () => ({ bytes: 0 }));

/** The memory of one response, from its first byte until it is no longer needed. It counts against the limit for all responses. */
export class MemoryReservation {
	#reservedBytes = 0;

	/** @throws BodyError `noMemory` if there is no room next to the other responses */
	reserve(bytes: number): void {
		if (
			getReservedMemory().bytes + bytes >
			getHeapStatistics().heap_size_limit * maxHeapShares.inFlight
		)
			throw new BodyError('noMemory');
		this.#addBytes(bytes);
	}

	/** Reserves memory for parsing. @param limits the limits for the memory and the levels @throws BodyError `tooCostly`, `noMemory` */
	async reserveForParsing(
		json: Buffer,
		limits = { bytes: Infinity, levels: Infinity },
	): Promise<void> {
		const { heap_size_limit: heapLimit } = getHeapStatistics();
		const maxCost = Math.min(limits.bytes, heapLimit * maxHeapShares.oneResponse);
		const scan = scanJson(json, maxCost, limits.levels);
		let step = scan.next();
		for (; !step.done; step = scan.next()) await yieldToEventLoop();
		const cost = step.value;
		if (cost > maxCost) throw new BodyError('tooCostly');
		// Parsed responses count twice: in the heap and in the ledger. Too high is safer than too low.
		const usedBytes = getHeapStatistics().used_heap_size + getReservedMemory().bytes;
		if (usedBytes + cost > heapLimit * maxHeapShares.total) throw new BodyError('noMemory');
		this.reserve(cost);
	}

	/** Releases the whole reservation. May be called more than once. */
	release(): void {
		this.#addBytes(-this.#reservedBytes);
	}

	#addBytes(bytes: number): void {
		this.#reservedBytes += bytes;
		getReservedMemory().bytes += bytes;
	}
}

/** Returns whether JSON can be parsed without harm to n8n's other workflows: within the limits of memory, time and levels. */
export function canParse(json: Buffer): boolean {
	const { heap_size_limit: heapLimit, used_heap_size: usedBytes } = getHeapStatistics();
	const freeBytes = heapLimit * maxHeapShares.total - usedBytes - getReservedMemory().bytes;
	const maxCost = Math.min(
		itemParsingLimits.bytes,
		heapLimit * maxHeapShares.oneResponse,
		freeBytes,
	);
	return estimateParsingCost(json, maxCost, itemParsingLimits.levels) <= maxCost;
}
