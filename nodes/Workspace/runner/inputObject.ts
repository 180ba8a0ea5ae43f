import { createRefusal } from '../../core/errors';
import { isRecord, describeType, jsonAdvice, parseJson } from '../../fields/values';
import { getAllFields, isInputKey, type Operation, type ResourceName } from '../operation';
import { getOperationKey, operationChoices, resources } from '../resources';

export interface ResourceOperation {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

/** Unchecked values, by the names of fields and options. */
type RawValues = Readonly<Record<string, unknown>>;

/** An operation with the values for its fields, before they are checked. */
export interface UncheckedInput extends ResourceOperation {
	readonly values: RawValues;
}

/**
 * Reads the operation and its values from an input object.
 * @param input the object or its JSON text
 * @param allowed the value of the field Allowed Operations; an empty list allows all operations
 * @throws NodeError 400 if a key is wrong or not allowed
 */
export function readInputObject(
	input: unknown,
	allowed: unknown,
	allowFilePaths: boolean,
): UncheckedInput {
	const { resource, operation, ...values } = parseInputObject(input);
	const uncheckedInput = { ...chooseOperation(resource, operation, values), values };
	refuseForbiddenOperation(allowed, uncheckedInput);
	refuseUnknownKeys(uncheckedInput);
	if (values['contentSource'] === 'filePath' && !allowFilePaths)
		throw createRefusal(
			"'contentSource' cannot be filePath: this node does not allow file paths",
			"Turn on 'Allow File Paths' in the node, or provide the content as base64 or in a binary field.",
		);
	return uncheckedInput;
}

/** Refuses an operation that the node does not allow, because an input object may come from outside. */
function refuseForbiddenOperation(
	allowed: unknown,
	{ resource, operation, values }: UncheckedInput,
): void {
	const allowedKeys = Array.isArray(allowed) ? (allowed as unknown[]) : undefined;
	if (allowed == null || allowedKeys?.length === 0) return;
	if (allowedKeys?.includes(getOperationKey(resource, operation))) return;
	// Such as "Send, Drafts Only", which allows Send only with `saveAsDraft: true`.
	const { narrowedChoice } = operation;
	if (narrowedChoice && allowedKeys?.includes(getOperationKey(resource, narrowedChoice))) {
		if (values[narrowedChoice.requiredKey] === true) return;
		throw createRefusal(
			`'${operation.value}' of ${resource} is only allowed with '${narrowedChoice.requiredKey}' here`,
			`Nothing was sent. Set '${narrowedChoice.requiredKey}' to true. 'Allowed Operations' of the node has '${narrowedChoice.name}'.`,
		);
	}
	const names = operationChoices
		.filter(({ value }) => allowedKeys?.includes(value))
		.map(({ name }) => name);
	throw createRefusal(
		`'${operation.value}' of ${resource} is not allowed here`,
		`'Allowed Operations' of the node has ${names.length === 0 ? 'no known operation' : `only: ${names.join(', ')}`}.`,
	);
}

function parseInputObject(input: unknown): Record<string, unknown> {
	const value =
		typeof input === 'string' ? parseJson(input, 'The input object', jsonAdvice) : input;
	if (isRecord(value)) return value;
	throw createRefusal(
		`The input object must be an object, not ${describeType(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const allOperations: readonly ResourceOperation[] = resources.flatMap(
	({ value: resource, operations }) => operations.map((operation) => ({ resource, operation })),
);

/** Returns the operation with these names. If no resource is named, the keys of the values may show which is meant. @throws NodeError 400 */
export function chooseOperation(resource: unknown, operation: unknown, values: RawValues = {}) {
	const resourceChoices = allOperations.filter((choice) => choice.resource === resource);
	const isKnownResource = resourceChoices.length > 0;
	const choices = isKnownResource ? resourceChoices : allOperations;
	const operationNames = [...new Set(choices.map((choice) => choice.operation.value))].join(', ');
	if (operation === undefined || operation === '')
		throw createRefusal("'operation' is required", `Choose one of: ${operationNames}.`);
	const matches = choices.filter((choice) => choice.operation.value === operation);
	const [match] = matches;
	const scopeText = resourceChoices[0] ? `, for '${resourceChoices[0].resource}'` : '';
	if (!match) throw createRefusal(`'operation' must be one of: ${operationNames}${scopeText}`);
	const isMissingResource = (resource ?? '') === '';
	if (isKnownResource || (isMissingResource && matches.length === 1)) return match;
	if (isMissingResource) return chooseByIdKey(match.operation.value, matches, values);
	const resourceNames = matches.map((choice) => choice.resource).join(', ');
	throw createRefusal(
		`'resource' must be one of: ${resourceNames}, for '${match.operation.value}'`,
	);
}

/** Returns the only operation that has an ID among the keys of the values. For example, `spreadsheetId` shows that Read means a spreadsheet. */
function chooseByIdKey(name: string, choices: readonly ResourceOperation[], values: RawValues) {
	const isSet = (key: string) => Object.hasOwn(values, key);
	const [choice, ...otherChoices] = choices.filter(({ operation }) =>
		getIdKeys(operation).some(isSet),
	);
	if (choice && otherChoices.length === 0) return choice;
	const resourceNames = choices.map(({ resource }) => resource).join(', ');
	const keys = choices.flatMap(({ operation }) => getIdKeys(operation)).join(', ');
	const shortcut = keys && ` You can leave it out if you set one of these keys: ${keys}.`;
	throw createRefusal(
		`'resource' is required for '${name}'`,
		`Choose one of: ${resourceNames}.${shortcut}`,
	);
}

const getIdKeys = ({ fields }: Operation) =>
	fields.flatMap(({ name, required, isId }) => (required && isId ? [name] : []));

function refuseUnknownKeys({ values, operation, resource }: UncheckedInput): void {
	const inputFields = getAllFields(operation).filter(isInputKey);
	const knownKeys = inputFields.map(({ name }) => name);
	const unknownKeys = Object.keys(values).filter((key) => !knownKeys.includes(key));
	if (unknownKeys.length === 0) return;
	throw createRefusal(
		`Unknown key ${unknownKeys.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${knownKeys.join(', ')}.`,
	);
}
