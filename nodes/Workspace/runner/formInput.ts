import { refusal } from '../../core/failure';

import type { Chosen } from './inputObject';
import type { NodeParameters } from '../../fields/nodeParameters';
import { resources } from '../resources';

/** n8n adds this choice to every node with such a credential; it is for its HTTP Request node. */
const customApiCall = '__CUSTOM_API_CALL__';

/** The operation that the form's dropdowns name, and what was given for its fields. @throws Failure 400 */
export function readForm(parameters: NodeParameters, itemIndex: number): Chosen {
	const resourceName = parameters.read('resource', itemIndex, '');
	const operationName = parameters.read('operation', itemIndex, '');
	if (resourceName === customApiCall || operationName === customApiCall) {
		throw refusal(
			"This node has no 'Custom API Call'",
			"Choose one of its operations, or use n8n's HTTP Request node with its own Google credential.",
		);
	}
	const resource = oneOf('Resource', resources, resourceName);
	const operation = oneOf('Operation', resource.operations, operationName);
	return { resource: resource.value, operation, given: parameters.given(operation.fields, itemIndex) };
}

function oneOf<T extends { readonly value: string }>(
	label: string,
	choices: readonly T[],
	value: unknown,
): T {
	const choice = choices.find((candidate) => candidate.value === value);
	if (choice) return choice;
	throw refusal(`'${label}' must be one of: ${choices.map((candidate) => candidate.value).join(', ')}`);
}
