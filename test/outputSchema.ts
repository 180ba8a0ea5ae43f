export interface Schema {
	readonly type: string;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly items?: Schema;
}

/**
 * Lists where a value differs from its schema: a key that only one of them has, or another type. An object without properties
 * holds whatever the other side sends.
 */
export function findDisagreements(
	schema: Schema,
	value: unknown,
	alsoAllowed: readonly string[] = [],
	at = 'result',
): string[] {
	const type = typeOf(value);
	if (type !== schema.type) return [`${at}: ${type} instead of ${schema.type}`];
	if (Array.isArray(value)) {
		const { items } = schema;
		return items
			? value.flatMap((one, index) => findDisagreements(items, one, [], `${at}[${index}]`))
			: [];
	}
	const { properties } = schema;
	if (!properties || Object.keys(properties).length === 0) return [];
	const given = value as Record<string, unknown>;
	const missing = Object.keys(properties).filter((key) => !(key in given));
	const unknown = Object.keys(given).filter(
		(key) => !(key in properties) && !alsoAllowed.includes(key),
	);
	return [
		...missing.map((key) => `${at}.${key}: missing`),
		...unknown.map((key) => `${at}.${key}: not in the schema`),
		...Object.entries(properties)
			.filter(([key]) => key in given)
			.flatMap(([key, inner]) => findDisagreements(inner, given[key], [], `${at}.${key}`)),
	];
}

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'array';
	if (Number.isInteger(value)) return 'integer';
	return typeof value;
}
