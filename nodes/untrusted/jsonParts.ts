/**
 * The limit for levels of objects and lists. n8n copies data by recursion, which overflows the
 * stack at some thousands of levels.
 */
const maxLevels = 1_000;
/**
 * The limit for keys, entries, and objects and lists, which count twice. With more, parsing would
 * block n8n for over half a second, and for over four seconds if all texts differ.
 */
const maxParts = 6_000_000;
const containerParts = 2;
/**
 * V8 stores an object with more keys as a hash table, which is slow: then a key counts as
 * `hashTableKeyParts`.
 */
const maxFastKeys = 1_000;
const hashTableKeyParts = 20;
/**
 * V8 takes the length of a text of 16,384 characters or more for its hash, so that it compares each
 * key of one length with all others.
 */
const maxKeyBytes = 16_000;

/**
 * Returns whether JSON can be parsed, and its value copied, without harm to n8n's other workflows.
 */
export const canParse = (json: Buffer) => countJsonParts(json) <= maxParts;

const [brace, braceEnd] = [0x7b, 0x7d];
const [bracket, bracketEnd] = [0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
const [quote, backslash] = [0x22, 0x5c];

/**
 * Counts the parts of JSON outside its texts.
 * @returns Infinity for too many levels or too long a key; a number above `maxParts` if there are
 * more
 */
export function countJsonParts(json: Buffer): number {
	/** The number of keys by level. */
	const keyCounts = new Uint32Array(maxLevels + 1);
	let parts = 0;
	let level = 0;
	let isInText = false;
	let textStart = 0;
	for (let position = 0; position < json.length && parts <= maxParts; position++) {
		const byte = json[position];
		if (isInText) {
			if (byte === backslash) position++;
			else if (byte === quote) isInText = false;
		} else if (byte === quote) {
			isInText = true;
			textStart = position;
		} else if (byte === comma) {
			parts++;
		} else if (byte === colon) {
			if (position - textStart > maxKeyBytes) return Infinity;
			const count = (keyCounts[level] ?? 0) + 1;
			keyCounts[level] = count;
			parts += count > maxFastKeys ? hashTableKeyParts : 1;
		} else if (byte === brace || byte === bracket) {
			parts += containerParts;
			level++;
			if (level > maxLevels) return Infinity;
			keyCounts[level] = 0;
		} else if (byte === braceEnd || byte === bracketEnd) {
			level = Math.max(0, level - 1);
		}
	}
	return parts;
}
