/** The value at a dot path such as `result.items.0.id`; undefined where there is none. An own key that holds the dots wins. */
export function valueAt(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dot = path.indexOf('.');
	if (dot === -1) return undefined;
	const key = path.slice(0, dot);
	if (!Object.hasOwn(value, key)) return undefined;
	return valueAt((value as Readonly<Record<string, unknown>>)[key], path.slice(dot + 1));
}
