import { refusal } from '../../core/errors';

import { isRecord, kindOf, parsedJson } from '../../fields/values';
import { checkAllowed, resources } from '../resources';
import { fieldsOf, type Operation, type ResourceName } from '../operation';

/** What an item asks for. */
export interface Found {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

export interface Chosen extends Found {
	/** The given values of the operation's fields and options, unchecked. */
	readonly given: Readonly<Record<string, unknown>>;
}

/** What the owner of the node allows an input object to do. */
interface Allowed {
	readonly allowFilePaths: boolean;
	/** The parameter's value. */
	readonly allowedOperations: unknown;
}

/**
 * Reads an input object: its operation and parameters.
 * @param input JSON text or an object
 * @throws NodeError 400 that names the key and what is allowed
 */
export function readInputObject(input: unknown, { allowFilePaths, allowedOperations }: Allowed): Chosen {
	const { resource, operation, ...given } = objectOf(input);
	const chosen = { ...operationOf(resource, operation, given), given };
	checkAllowed(allowedOperations, chosen.resource, chosen.operation);
	refuseUnknownKeys(chosen);
	if (given['contentSource'] === 'filePath' && !allowFilePaths) {
		throw refusal(
			"'contentSource' must not be filePath here",
			"Turn on 'Allow File Paths' in the node, or provide the content as base64 or in a binary field.",
		);
	}
	return chosen;
}

function objectOf(input: unknown): Record<string, unknown> {
	const value = typeof input === 'string' ? parsedJson(input, 'The input object', jsonAdvice) : input;
	if (isRecord(value)) return value;
	throw refusal(
		`The input object must be an object, not ${kindOf(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const jsonAdvice =
	'Strings and keys must be in double quotes, with no comma after the last one. To use data of the item, enter an expression that returns an object.';

const every: readonly Found[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({ resource, operation })),
);
const operationNames = [...new Set(every.map(({ operation }) => operation.value))].join(', ');

/** @param given its keys tell the resource where it is not named @throws NodeError 400 that names what there is */
export function operationOf(resource: unknown, operation: unknown, given: Chosen['given'] = {}): Found {
	if (operation === undefined || operation === '') {
		throw refusal("'operation' is required", `Choose one of: ${operationNames}.`);
	}
	const all = every.filter((found) => found.operation.value === operation);
	const [first, ...others] = all;
	if (!first) throw refusal(`'operation' must be one of: ${operationNames}`);
	if ((resource ?? '') === '')
		return others.length === 0 ? first : byIdKey(first.operation.value, all, given);
	const found = all.find((one) => one.resource === resource);
	if (found) return found;
	const allowed = all.map((one) => one.resource).join(', ');
	throw refusal(`'resource' must be one of: ${allowed}, for '${first.operation.value}'`);
}

function byIdKey(name: string, all: readonly Found[], given: Chosen['given']): Found {
	const [only, ...more] = all.filter(({ operation }) =>
		idKeys(operation).some((key) => Object.hasOwn(given, key)),
	);
	if (only && more.length === 0) return only;
	const names = all.map(({ resource }) => resource).join(', ');
	const keys = all.flatMap(({ operation }) => idKeys(operation)).join(', ');
	const shorter = keys && ` You can leave it out if you set one of these keys: ${keys}.`;
	throw refusal(`'resource' is required for '${name}'`, `Choose one of: ${names}.${shorter}`);
}

function idKeys({ fields }: Operation): string[] {
	return fields.flatMap(({ name, required, format }) =>
		required && (format === 'id' || format === 'fileId') ? [name] : [],
	);
}

function refuseUnknownKeys({ given, operation, resource }: Chosen): void {
	const known = fieldsOf(operation).map(({ name }) => name);
	const unknown = Object.keys(given).filter((key) => !known.includes(key));
	if (unknown.length === 0) return;
	throw refusal(
		`Unknown key ${unknown.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${known.join(', ')}.`,
	);
}
