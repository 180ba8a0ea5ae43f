import { Ajv, type ValidateFunction } from 'ajv';

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
	const reference = method[of];
	if (!reference) return body === undefined ? [] : [`no ${of} body is declared`];
	const validate = getValidator(api, reference.$ref);
	if (validate(body)) return [];
	return (validate.errors ?? []).map(({ instancePath, message, params }) => {
		const extra =
			'additionalProperty' in params ? ` '${String(params['additionalProperty'])}'` : '';
		return `${of} ${instancePath || 'body'} ${message ?? 'is wrong'}${extra}`;
	});
}

const validators = new Map<string, Ajv>();

function getValidator(api: Discovery, schema: string): ValidateFunction {
	let ajv = validators.get(api.name);
	if (!ajv) {
		// Every test file compiles the validators again. Without optimization, this takes a third of the time.
		const quick = { inlineRefs: false, code: { optimize: false } };
		ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, ...quick });
		ajv.addSchema({ $id: api.name, definitions: toJsonSchemas(api.schemas) });
		validators.set(api.name, ajv);
	}
	const validate = ajv.getSchema(`${api.name}#/definitions/${schema}`);
	if (!validate) throw new Error(`The contract of ${api.name} has no schema ${schema}`);
	return validate;
}

function toJsonSchemas(schemas: Readonly<Record<string, DiscoverySchema>>): Record<string, object> {
	const entries = Object.entries(schemas).map(([name, value]) => [name, toJsonSchema(value)]);
	return Object.fromEntries(entries) as Record<string, object>;
}

/**
 * Converts a discovery schema to JSON Schema: references, `any`, 64-bit integers as digits, bytes as base64.
 * Undeclared properties are not allowed.
 */
function toJsonSchema(schema: DiscoverySchema): object {
	const { $ref, type, format, properties, items, additionalProperties } = schema;
	if ($ref !== undefined) return { $ref: `#/definitions/${$ref}` };
	if (type === 'any') return {};
	if (type === 'array') return { type, ...(items && { items: toJsonSchema(items) }) };
	if (type === 'object') {
		return {
			type,
			properties: toJsonSchemas(properties ?? {}),
			additionalProperties: additionalProperties ? toJsonSchema(additionalProperties) : false,
		};
	}
	return { type, ...(schema.enum && { enum: schema.enum }), ...buildPattern(format) };
}

function buildPattern(format: string | undefined): object {
	if (format === 'int64') return { pattern: digits.source };
	if (format === 'uint64') return { pattern: '^\\d+$' };
	if (format === 'byte') return { pattern: '^[A-Za-z0-9+/_-]*={0,2}$' };
	if (format === 'date-time' || format === 'google-datetime')
		return { pattern: '^\\d{4}-\\d\\d-\\d\\dT' };
	return {};
}
