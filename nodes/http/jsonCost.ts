import { getHeapStatistics } from 'node:v8';

/** Bytes of memory by what stands outside of texts, as measured with V8 in Node 24: `{}` takes 64, a short text in a list 32. */
const costs = { object: 64, list: 40, entry: 12, text: 24 };

const [quote, backslash, brace, bracket, comma] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c];

/** What parsing takes in memory, about: 1 to 40 times the size, by the structure. Linear, and small besides the parsing itself. */
export function parsingCost(json: Buffer): number {
	let cost = json.length;
	let isText = false;
	for (let at = 0; at < json.length; at++) {
		const byte = json[at];
		if (isText) {
			if (byte === backslash) at++;
			else if (byte === quote) isText = false;
		} else if (byte === quote) {
			isText = true;
			cost += costs.text;
		} else if (byte === brace) cost += costs.object;
		else if (byte === bracket) cost += costs.list;
		else if (byte === comma) cost += costs.entry;
	}
	return cost;
}

/** Of the heap, for one answer. */
const mostOfHeap = 1 / 4;
/** Of the heap, with all else that is in it. */
const fullHeap = 0.85;
/** What is cheaper makes no difference. */
const smallBytes = 32 * 1024 * 1024;

/** Whether n8n, which is one process for all of its workflows, has room for what parsing makes. */
export function hasRoomToParse(json: Buffer): boolean {
	// Even the worst structure stays below.
	if (json.length * costs.object < smallBytes) return true;
	const cost = parsingCost(json);
	if (cost < smallBytes) return true;
	const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
	return cost <= limit * mostOfHeap && used + cost <= limit * fullHeap;
}

/** Whether more than a number or a text may come of it: by its beginning, whatever it is called. */
export function mayBeJson(bytes: Buffer): boolean {
	return /^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));
}
