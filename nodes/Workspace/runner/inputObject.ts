import { createRefusal } from '../../core/errors';
import { isRecord, describeType, jsonAdvice, parseJson } from '../../fields/values';
import { getAllFields, type Operation, type ResourceName } from '../operation';
import { getOperationKey, operationChoices, resources } from '../resources';

/** The operation that an item asks for. */
export interface ChosenOperation {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

/** Values by the names of fields and options, unchecked. */
type RawValues = Readonly<Record<string, unknown>>;

export interface UncheckedJob extends ChosenOperation {
	readonly given: RawValues;
}

/**
 * The operation and parameters of an input object or its JSON text.
 * @param allowed the value of Allowed Operations; an empty list allows all
 * @throws NodeError 400 that names the key and what is allowed
 */
export function readInputObject(input: unknown, allowed: unknown, allowFilePaths: boolean): UncheckedJob {
	const { resource, operation, ...given } = parseInputObject(input);
	const chosen = { ...findOperation(resource, operation, given), given };
	refuseForbiddenOperation(allowed, chosen);
	refuseUnknownKeys(chosen);
	if (given['contentSource'] === 'filePath' && !allowFilePaths) {
		throw createRefusal(
			"'contentSource' cannot be filePath: this node does not allow file paths",
			"Turn on 'Allow File Paths' in the node, or provide the content as base64 or in a binary field.",
		);
	}
	return chosen;
}

/** Refuses an operation that the node does not allow, because an input object may come from outside. */
function refuseForbiddenOperation(allowed: unknown, { resource, operation, given }: UncheckedJob): void {
	const list = Array.isArray(allowed) ? (allowed as unknown[]) : undefined;
	if (allowed == null || list?.length === 0 || list?.includes(getOperationKey(resource, operation))) return;
	const { narrowed } = operation;
	if (narrowed && list?.includes(getOperationKey(resource, narrowed))) {
		if (given[narrowed.key] === true) return;
		throw createRefusal(
			`'${operation.value}' of ${resource} is only allowed with '${narrowed.key}' here`,
			`Nothing was sent. Set '${narrowed.key}' to true. 'Allowed Operations' of the node has '${narrowed.name}'.`,
		);
	}
	const names = operationChoices.filter(({ value }) => list?.includes(value)).map(({ name }) => name);
	throw createRefusal(
		`'${operation.value}' of ${resource} is not allowed here`,
		`'Allowed Operations' of the node has ${names.length === 0 ? 'no known operation' : `only: ${names.join(', ')}`}.`,
	);
}

function parseInputObject(input: unknown): Record<string, unknown> {
	const value = typeof input === 'string' ? parseJson(input, 'The input object', jsonAdvice) : input;
	if (isRecord(value)) return value;
	throw createRefusal(
		`The input object must be an object, not ${describeType(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const allOperations: readonly ChosenOperation[] = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({ resource, operation })),
);

/** @param given its keys tell the resource if none is named @throws NodeError 400 that lists the resources or operations */
export function findOperation(resource: unknown, operation: unknown, given: RawValues = {}): ChosenOperation {
	const ofResource = allOperations.filter((one) => one.resource === resource);
	const choices = ofResource.length > 0 ? ofResource : allOperations;
	const names = [...new Set(choices.map((one) => one.operation.value))].join(', ');
	if (operation === undefined || operation === '') {
		throw createRefusal("'operation' is required", `Choose one of: ${names}.`);
	}
	const matches = choices.filter((one) => one.operation.value === operation);
	const [first, ...others] = matches;
	const scope = ofResource[0] ? `, for '${ofResource[0].resource}'` : '';
	if (!first) throw createRefusal(`'operation' must be one of: ${names}${scope}`);
	const isOnly = others.length === 0;
	if ((resource ?? '') === '') return isOnly ? first : findByIdKey(first.operation.value, matches, given);
	if (ofResource.length > 0) return first;
	const allowed = matches.map((one) => one.resource).join(', ');
	throw createRefusal(`'resource' must be one of: ${allowed}, for '${first.operation.value}'`);
}

function findByIdKey(name: string, all: readonly ChosenOperation[], given: RawValues): ChosenOperation {
	const isNamed = (key: string) => Object.hasOwn(given, key);
	const [only, ...more] = all.filter(({ operation }) => getIdKeys(operation).some(isNamed));
	if (only && more.length === 0) return only;
	const names = all.map(({ resource }) => resource).join(', ');
	const keys = all.flatMap(({ operation }) => getIdKeys(operation)).join(', ');
	const shortcut = keys && ` You can leave it out if you set one of these keys: ${keys}.`;
	throw createRefusal(`'resource' is required for '${name}'`, `Choose one of: ${names}.${shortcut}`);
}

function getIdKeys({ fields }: Operation): string[] {
	return fields.flatMap(({ name, required, isId }) => (required && isId ? [name] : []));
}

function refuseUnknownKeys({ given, operation, resource }: UncheckedJob): void {
	const known = getAllFields(operation).flatMap(({ name, onlyIn }) => (onlyIn === 'fields' ? [] : [name]));
	const unknown = Object.keys(given).filter((key) => !known.includes(key));
	if (unknown.length === 0) return;
	throw createRefusal(
		`Unknown key ${unknown.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${known.join(', ')}.`,
	);
}
