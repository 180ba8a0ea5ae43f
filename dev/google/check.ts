import type { Discovery, DiscoverySchema, Parameter } from './contract.ts';
import type { Route } from './router.ts';

const digits = /^-?\d+$/;
const types: Readonly<Record<string, RegExp>> = {
	integer: digits,
	number: /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/,
	boolean: /^(true|false)$/,
	string: /^[^]*$/,
};

/** Lists what is wrong with a request's query; empty if it is valid. */
export function findQueryFaults({ api, method, upload }: Route, query: URLSearchParams): string[] {
	const declared = { ...api.commonParameters, ...method.parameters };
	return [...new Set(query.keys())].flatMap((name) => {
		// The upload servers accept it in addition to the contract.
		if (upload && name === 'upload_id') return [];
		const parameter = declared[name];
		if (parameter?.location !== 'query') return [`unknown query parameter '${name}'`];
		const values = query.getAll(name);
		if (values.length > 1 && !parameter.repeated)
			return [`query parameter '${name}' is repeated`];
		return values.flatMap((value) => findValueFaults(name, value, parameter));
	});
}

function findValueFaults(
	name: string,
	value: string,
	{ type, format, enum: choices }: Parameter,
): string[] {
	if (choices && !choices.includes(value)) {
		return [`query parameter '${name}' is '${value}', not one of ${choices.join(', ')}`];
	}
	const fits = types[type]?.test(value) && !(format?.startsWith('uint') && value.startsWith('-'));
	return fits ? [] : [`query parameter '${name}' is '${value}', not ${format ?? type}`];
}

/** Lists what is wrong with a JSON body according to the request or response schema; empty if it is valid. */
export function findBodyFaults(
	{ api, method }: Route,
	of: 'request' | 'response',
	body: unknown,
): string[] {
	const schema = method[of];
	if (!schema) return body === undefined ? [] : [`no ${of} body is declared`];
	const faults = findSchemaFaults(body, schema, api.schemas);
	return faults.map(({ path, fault }) => `${of} ${path || 'body'} ${fault}`);
}

interface Fault {
	/** Of the value in the body, such as `/requests/0`; '' for the body itself. */
	readonly path: string;
	readonly fault: string;
}

/** Lists what is wrong with a value. Undeclared properties are not allowed. */
function findSchemaFaults(
	value: unknown,
	schema: DiscoverySchema,
	schemas: Discovery['schemas'],
	path = '',
): Fault[] {
	if (schema.$ref !== undefined) {
		const referred = schemas[schema.$ref];
		if (!referred) throw new Error(`The contract has no schema ${schema.$ref}`);
		return findSchemaFaults(value, referred, schemas, path);
	}
	const expectation = findMismatch(value, schema);
	if (expectation !== undefined) return [{ path, fault: `must be ${expectation}` }];
	const { properties = {}, items, additionalProperties } = schema;
	const faults: Fault[] = [];
	const isList = Array.isArray(value);
	if (schema.type === 'any' || (!isList && schema.type !== 'object')) return faults;
	for (const [key, part] of Object.entries(value as object)) {
		const declared = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
		const partSchema = isList ? items : declared;
		const partPath = `${path}/${key}`;
		if (!partSchema) faults.push({ path: partPath, fault: 'is not declared' });
		else if (isList || part !== undefined)
			faults.push(...findSchemaFaults(part, partSchema, schemas, partPath));
	}
	return faults;
}

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
	any: () => true,
	array: Array.isArray,
	boolean: (value) => typeof value === 'boolean',
	integer: Number.isInteger,
	number: Number.isFinite,
	object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
	string: (value) => typeof value === 'string',
};

/** JSON has 64-bit integers as digits, and bytes as base64. */
const formatPatterns: Readonly<Record<string, RegExp>> = {
	int64: digits,
	uint64: /^\d+$/,
	byte: /^[A-Za-z0-9+/_-]*={0,2}$/,
	'date-time': /^\d{4}-\d\d-\d\dT/,
	'google-datetime': /^\d{4}-\d\d-\d\dT/,
};

/** Returns what a value must be, unless it is that. */
function findMismatch(
	value: unknown,
	{ type = '', format = '', enum: choices }: DiscoverySchema,
): string | undefined {
	if (!typeTests[type]?.(value)) return type;
	if (typeof value !== 'string') return undefined;
	if (choices && !choices.includes(value)) return `one of ${choices.join(', ')}`;
	return formatPatterns[format]?.test(value) === false ? format : undefined;
}
