/** Finds the value at a dot path such as `result.items.0.id`. A key that itself contains the dots takes precedence. */
export function findValueAtPath(value: unknown, path: string): unknown {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Object.hasOwn(value, path)) return (value as Readonly<Record<string, unknown>>)[path];
	const dotPosition = path.indexOf('.');
	if (dotPosition === -1) return undefined;
	const parent = findValueAtPath(value, path.slice(0, dotPosition));
	return findValueAtPath(parent, path.slice(dotPosition + 1));
}
