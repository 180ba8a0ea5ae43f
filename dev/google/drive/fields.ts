import { ApiError } from '../service.ts';

export type Mask = Map<string, Mask>;

/**
 * Selects the fields of a partial response, such as `nextPageToken,files(id,owners/emailAddress)`; `*` means everything,
 * and a dot is the same as a slash.
 * @param value a JSON value; arrays are searched
 */
export function selectFields(value: unknown, fields: string): unknown {
	return pick(value, readMask(fields));
}

/** @throws ApiError if the mask is not well-formed */
export function readMask(fields: string): Mask {
	const { mask, rest } = parseMask(fields);
	if (rest !== '') throw createSelectionError(fields);
	return mask;
}

function pick(value: unknown, mask: Mask): unknown {
	if (mask.size === 0 || mask.has('*')) return value;
	if (Array.isArray(value)) return value.map((entry: unknown) => pick(entry, mask));
	if (typeof value !== 'object' || value === null) return value;
	const entries = Object.entries(value).flatMap(([key, inner]) => {
		const deeper = mask.get(key);
		return deeper === undefined || inner === undefined
			? []
			: [[key, pick(inner, deeper)] as const];
	});
	return Object.fromEntries(entries);
}

function parseMask(text: string): { mask: Mask; rest: string } {
	const mask: Mask = new Map();
	let remainder = text;
	for (;;) {
		const match = /^\s*([A-Za-z0-9_]+|\*)((?:[/.](?:[A-Za-z0-9_]+|\*))*)\s*/.exec(remainder);
		if (match === null) throw createSelectionError(text);
		remainder = remainder.slice(match[0].length);
		let leaf = addBelow(mask, match[1] ?? '');
		for (const name of (match[2] ?? '').split(/[/.]/).filter(Boolean))
			leaf = addBelow(leaf, name);
		if (remainder.startsWith('(')) {
			const inner = parseMask(remainder.slice(1));
			if (!inner.rest.startsWith(')')) throw createSelectionError(text);
			for (const [name, deeper] of inner.mask) leaf.set(name, deeper);
			remainder = inner.rest.slice(1).trimStart();
		}
		if (!remainder.startsWith(',')) return { mask, rest: remainder };
		remainder = remainder.slice(1);
	}
}

function addBelow(mask: Mask, name: string): Mask {
	const nested = mask.get(name);
	if (nested !== undefined) return nested;
	const newMask: Mask = new Map();
	mask.set(name, newMask);
	return newMask;
}

function createSelectionError(fields: string): ApiError {
	return new ApiError(400, `Invalid field selection ${fields}`, { reason: 'invalidParameter' });
}
