import { ApiError } from '../service.ts';

type Mask = Map<string, Mask>;

/**
 * Google's partial responses, such as `nextPageToken,files(id,owners/emailAddress)`; `*` means everything,
 * and a dot is the same as a slash.
 * @param value a JSON value; arrays are searched
 */
export function selectFields(value: unknown, fields: string): unknown {
	const { mask, rest } = parseMask(fields);
	if (rest !== '') throw invalidSelection(fields);
	return pick(value, mask);
}

function pick(value: unknown, mask: Mask): unknown {
	if (mask.size === 0 || mask.has('*')) return value;
	if (Array.isArray(value)) return value.map((entry: unknown) => pick(entry, mask));
	if (typeof value !== 'object' || value === null) return value;
	const kept = Object.entries(value).flatMap(([key, inner]) => {
		const deeper = mask.get(key);
		return deeper === undefined || inner === undefined ? [] : [[key, pick(inner, deeper)] as const];
	});
	return Object.fromEntries(kept);
}

function parseMask(text: string): { mask: Mask; rest: string } {
	const mask: Mask = new Map();
	let rest = text;
	for (;;) {
		const found = /^\s*([A-Za-z0-9_]+|\*)((?:[/.](?:[A-Za-z0-9_]+|\*))*)\s*/.exec(rest);
		if (found === null) throw invalidSelection(text);
		rest = rest.slice(found[0].length);
		let leaf = below(mask, found[1] ?? '');
		for (const name of (found[2] ?? '').split(/[/.]/).filter(Boolean)) leaf = below(leaf, name);
		if (rest.startsWith('(')) {
			const inner = parseMask(rest.slice(1));
			if (!inner.rest.startsWith(')')) throw invalidSelection(text);
			for (const [name, deeper] of inner.mask) leaf.set(name, deeper);
			rest = inner.rest.slice(1).trimStart();
		}
		if (!rest.startsWith(',')) return { mask, rest };
		rest = rest.slice(1);
	}
}

function below(mask: Mask, name: string): Mask {
	const known = mask.get(name);
	if (known !== undefined) return known;
	const made: Mask = new Map();
	mask.set(name, made);
	return made;
}

function invalidSelection(fields: string): ApiError {
	return new ApiError(400, `Invalid field selection ${fields}`, { reason: 'invalidParameter' });
}
