import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';

import { getGlobalSingleton } from '../core/runtime';
import { BodyError } from './body';

const mebibyte = 2 ** 20;
/** Bytes of memory for what is outside of strings, measured with V8 in Node 24: `{}` takes 64, a short string in a list 32. */
const parsingCosts = { object: 64, list: 40, entry: 12, text: 24, rareKey: 400 };
/** An object with more keys is a hash table: a microsecond for each key to parse and to copy. 800,000 keys stop n8n for seconds. */
const maxFastKeys = 1_000;
/** Levels of objects and lists. n8n copies and stores data by recursion, which overflows the stack at some thousands of levels. */
const maxDepth = 1_000;

const [quote, backslash, brace, bracket, comma] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c];
const [braceEnd, bracketEnd, colon] = [0x7d, 0x5d, 0x3a];

/** Scans a megabyte at a time, which takes a few milliseconds. @returns the estimated bytes */
function* scanJson(json: Buffer, most: number, mostLevels: number): Generator<undefined, number> {
	let [at, cost, isText, depth] = [0, json.length, false, 0];
	/** The number of keys of each open object. Beyond its end, a typed array ignores what is written and returns undefined. */
	const keys = new Uint32Array(maxDepth);
	while (at < json.length && cost <= most) {
		if (at > 0) yield;
		const end = Math.min(json.length, at + mebibyte);
		for (; at < end; at++) {
			const byte = json[at];
			if (isText) {
				if (byte === backslash) at++;
				else if (byte === quote) isText = false;
			} else if (byte === quote) {
				isText = true;
				cost += parsingCosts.text;
			} else if (byte === brace || byte === bracket) {
				cost += byte === brace ? parsingCosts.object : parsingCosts.list;
				if (++depth > mostLevels) cost = Infinity;
				keys[depth] = 0;
			} else if (byte === braceEnd || byte === bracketEnd) depth--;
			else if (byte === colon) {
				const count = (keys[depth] ?? 0) + 1;
				keys[depth] = count;
				if (count > maxFastKeys) cost += parsingCosts.rareKey;
			} else if (byte === comma) cost += parsingCosts.entry;
		}
	}
	return cost;
}

/**
 * Estimates the memory that parsing takes, in bytes: 1 to 40 times the size, depending on the structure.
 * @param most the scan stops once the cost is above this
 * @param mostLevels with more, the cost is infinite
 */
export function estimateParsingCost(json: Buffer, most = Infinity, mostLevels = Infinity): number {
	const scan = scanJson(json, most, mostLevels);
	let step = scan.next();
	while (!step.done) step = scan.next();
	return step.value;
}

/** Fractions of the heap: for one answer; for all that are being read or parsed; for everything in it. */
const [maxAnswerShare, maxInFlightShare, maxHeapShare] = [1 / 4, 1 / 2, 0.85];
/** Limits for data that becomes an item. Above this cost, `JSON.parse`, which cannot pause, blocks all of n8n for over half a second. */
export const itemParsingLimits = { bytes: 128 * mebibyte, levels: maxDepth };

/** The sum of all answers in the process, because all workflows run in it. */
const getLedger = () => getGlobalSingleton('answersInFlight', () => ({ bytes: 0 }));

/** Bytes that answers currently in flight use. */
export const getBytesInFlight = (): number => getLedger().bytes;

/** The memory of one answer, from its first byte until it is no longer needed. It counts against the limit for all answers. */
export class MemoryReservation {
	#reservedBytes = 0;

	/** @throws BodyError `noMemory` if there is no room next to the other answers */
	reserve(bytes: number): void {
		const { heap_size_limit: limit } = getHeapStatistics();
		if (getLedger().bytes + bytes > limit * maxInFlightShare) throw new BodyError('noMemory');
		this.#addBytes(bytes);
	}

	/** Reserves memory for a parsed answer. @param limits for its memory and its levels @throws BodyError `tooCostly`, `noMemory` */
	async reserveForParsing(json: Buffer, limits = { bytes: Infinity, levels: Infinity }): Promise<void> {
		const { heap_size_limit: limit } = getHeapStatistics();
		const most = Math.min(limits.bytes, limit * maxAnswerShare);
		const scan = scanJson(json, most, limits.levels);
		let step = scan.next();
		// Between two slices, n8n can do other work.
		for (; !step.done; step = scan.next()) await yieldToEventLoop();
		const cost = step.value;
		if (cost > most) throw new BodyError('tooCostly');
		const used = getHeapStatistics().used_heap_size + getLedger().bytes;
		if (used + cost > limit * maxHeapShare) throw new BodyError('noMemory');
		this.reserve(cost);
	}

	/** May be called more than once. */
	release(): void {
		this.#addBytes(-this.#reservedBytes);
	}

	#addBytes(bytes: number): void {
		this.#reservedBytes += bytes;
		getLedger().bytes += bytes;
	}
}

/** Whether a message can be parsed at once, considering memory, time and levels: n8n is one process for all of its workflows. */
export function canParse(json: Buffer): boolean {
	const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
	const free = limit * maxHeapShare - used - getBytesInFlight();
	const most = Math.min(itemParsingLimits.bytes, limit * maxAnswerShare, free);
	return estimateParsingCost(json, most, itemParsingLimits.levels) <= most;
}
