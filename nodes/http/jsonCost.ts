import { setImmediate as turn } from 'node:timers/promises';

/** Bytes of memory by what stands outside of texts, as measured with V8 in Node 24: `{}` takes 64, a short text in a list 32. */
const costs = { object: 64, list: 40, entry: 12, text: 24 };

const [quote, backslash, brace, bracket, comma] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c];

/** Looks through a JSON text, part by part. */
class Count {
	/** Bytes of memory. */
	cost: number;
	#at = 0;
	#isText = false;
	readonly #json: Buffer;

	constructor(json: Buffer) {
		this.#json = json;
		this.cost = json.length;
	}

	/** @returns whether there is more */
	goOn(bytes: number): boolean {
		const json = this.#json;
		const end = Math.min(json.length, this.#at + bytes);
		let { cost } = this;
		let at = this.#at;
		let isText = this.#isText;
		for (; at < end; at++) {
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
		this.#at = at;
		this.#isText = isText;
		this.cost = cost;
		return at < json.length;
	}
}

/** Some milliseconds of looking. */
const partBytes = 1024 * 1024;

/**
 * What parsing takes in memory, about: 1 to 40 times the size, by the structure. Linear, and small besides the parsing itself.
 * @param most it is not looked at further once the cost is above
 */
export function parsingCost(json: Buffer, most = Infinity): number {
	const count = new Count(json);
	while (count.goOn(partBytes) && count.cost <= most);
	return count.cost;
}

/** The same for a text that may be long: n8n does everything else between two parts. */
export async function parsingCostInParts(json: Buffer, most = Infinity): Promise<number> {
	const count = new Count(json);
	while (count.goOn(partBytes) && count.cost <= most) await turn();
	return count.cost;
}

/** Whether more than a number or a text may come of it: by its beginning, whatever it is called. */
export function mayBeJson(bytes: Buffer): boolean {
	return /^\uFEFF?\s*(?:[[{]|$)/.test(bytes.toString('utf8', 0, 64));
}
