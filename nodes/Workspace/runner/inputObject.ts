import { createRefusal } from '../../core/errors';
import type { RawValues } from '../../fields/rawParameters';
import { isRecord, describeType, parseJson } from '../../fields/values';
import { getAllFields, isInputKey, type Operation, type ResourceName } from '../operation';
import { getOperationKey, operationChoices, resources } from '../resources';

export interface ResourceOperation {
	readonly resource: ResourceName;
	readonly operation: Operation;
}

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

/**
 * Refuses an operation that the node does not allow, because an input object may come from outside.
 */
function refuseForbiddenOperation(
	allowed: unknown,
	{ resource, operation, values }: UncheckedInput,
) {
	if (allowed == null) return;
	// A value that is not a list allows nothing.
	const allowedKeys: unknown[] = Array.isArray(allowed) ? allowed : [undefined];
	if (allowedKeys.length === 0) return;
	if (allowedKeys.includes(getOperationKey(resource, operation))) return;
	// Such as "Send, Drafts Only", which allows Send only with `saveAsDraft: true`.
	const { narrowedChoice } = operation;
	const isNarrowed =
		narrowedChoice && allowedKeys.includes(getOperationKey(resource, narrowedChoice));
	if (isNarrowed && values[narrowedChoice.requiredKey] === true) return;
	const names = operationChoices
		.filter(({ value }) => allowedKeys.includes(value))
		.map(({ name }) => name);
	const condition = isNarrowed ? ` without '${narrowedChoice.requiredKey}': true` : '';
	throw createRefusal(
		`'${operation.value}' of ${resource} is not allowed here${condition}`,
		`Nothing was sent. 'Allowed Operations' of the node has only: ${names.join(', ')}.`,
	);
}

function parseInputObject(input: unknown): Record<string, unknown> {
	const value = parseJson(input, 'The input object');
	if (isRecord(value)) return value;
	throw createRefusal(
		`The input object must be an object, not ${describeType(value)}`,
		'Enter an object such as { "operation": "list", "status": "unread" }. For several operations, use one item for each.',
	);
}

const allOperations: readonly ResourceOperation[] = resources.flatMap(
	({ value: resource, operations }) => operations.map((operation) => ({ resource, operation })),
);

/**
 * Returns the operation with these names. Without a resource, an ID among the values may show which
 * is meant.
 * @throws NodeError 400
 */
export function chooseOperation(resource: unknown, operation: unknown, values: RawValues = {}) {
	const isAnyResource = (resource ?? '') === '';
	const matches = allOperations.filter(
		(choice) =>
			choice.operation.value === operation && (isAnyResource || choice.resource === resource),
	);
	// For example, `spreadsheetId` shows that Read means a spreadsheet.
	const matchesById = matches.filter((choice) =>
		getIdKeys(choice.operation).some((key) => Object.hasOwn(values, key)),
	);
	const [match, ...otherMatches] = matches.length > 1 ? matchesById : matches;
	if (match && otherMatches.length === 0) return match;
	const names = allOperations.map((choice) => `${choice.resource} ${choice.operation.value}`);
	throw createRefusal(
		"'resource' and 'operation' do not name one operation",
		`Choose one of: ${names.join(', ')}. You can leave out 'resource' if only one resource has the operation, or if a key such as 'spreadsheetId' shows which is meant.`,
	);
}

const getIdKeys = ({ fields }: Operation) =>
	fields.flatMap(({ name, required, isId }) => (required && isId ? [name] : []));

function refuseUnknownKeys({ values, operation, resource }: UncheckedInput) {
	const inputFields = getAllFields(operation).filter(isInputKey);
	const knownKeys = inputFields.map(({ name }) => name);
	const unknownKeys = Object.keys(values).filter((key) => !knownKeys.includes(key));
	if (unknownKeys.length === 0) return;
	throw createRefusal(
		`Unknown key ${unknownKeys.map((key) => `'${key}'`).join(', ')} for '${operation.value}' of ${resource}`,
		`Allowed keys: ${knownKeys.join(', ')}.`,
	);
}
