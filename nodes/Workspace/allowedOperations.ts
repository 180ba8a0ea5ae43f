import type { INodePropertyOptions } from 'n8n-workflow';

import { refusal } from '../core/failure';

import { compareNames } from '../fields/fieldProperty';
import type { Operation, ResourceName } from './operation';
import { resources } from './resources';

/** The choices of the parameter, named as in the node creator. */
export const operationChoices: INodePropertyOptions[] = resources
	.flatMap(({ value, name, operations }) =>
		operations.map((operation) => ({
			name: `${name}: ${operation.name}`,
			value: keyOf(value, operation),
			description: operation.description,
		})),
	)
	.sort((a, b) => compareNames(a.name, b.name));

/**
 * Where an input object comes from outside, whoever sends it must not choose among all operations.
 * @param allowed the parameter's value; an empty list allows all
 * @throws Failure 400 for one that is not among them
 */
export function checkAllowed(allowed: unknown, resource: ResourceName, operation: Operation): void {
	if (allowed === undefined || allowed === null) return;
	if (!Array.isArray(allowed)) {
		throw refusal(
			"'Allowed Operations' is not a list",
			"Nothing was done. Choose the allowed operations in the node's parameters.",
		);
	}
	if (allowed.length === 0 || allowed.includes(keyOf(resource, operation))) return;
	const names = operationChoices.filter(({ value }) => allowed.includes(value)).map(({ name }) => name);
	throw refusal(
		`'${operation.value}' of ${resource} is not allowed here`,
		`'Allowed Operations' of the node ${names.length === 0 ? 'contains no known operation' : `are: ${names.join(', ')}`}.`,
	);
}

function keyOf(resource: ResourceName, { value }: Operation): string {
	return `${resource}.${value}`;
}
