import { type Field, type InferParameters, quoteField } from './field';

/** The form shows these options together, as the option Time Limits. */
const timeLimits = { name: 'timeLimits', displayName: 'Time Limits', key: 'limits' };

export const requestOptions = [
	{
		displayName: 'Max Retry Wait (Seconds)',
		name: 'maxRetryWaitSeconds',
		type: 'number',
		default: 120,
		minimum: 0,
		maximum: 3600,
		optionGroup: timeLimits,
		description:
			'Max total time to wait between tries of a request. If the service asks for a longer wait, the item fails immediately.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeoutSeconds',
		type: 'number',
		default: 300,
		minimum: 1,
		maximum: 3600,
		optionGroup: timeLimits,
		description: 'Max time for a single request',
	},
] as const satisfies readonly Field[];

/**
 * Read once for all items, because an item whose parameters are not valid also keeps its input
 * fields.
 */
export const includeInputFieldsOption = {
	displayName: 'Include Input Fields',
	name: 'includeInputFields',
	type: 'boolean',
	default: false,
	noDataExpression: true,
	description:
		'Whether to add the fields of the input item to each output item. Where names are the same, the result wins.',
} as const satisfies Field;

export const startCharacterOption = {
	displayName: 'Start Character',
	name: 'startCharacter',
	type: 'number',
	default: 0,
	minimum: 0,
	onlyAsTool: true,
	description:
		'Where the text begins, counted from 0. Let a model fill this in, so that it can continue an answer that was shortened.',
} as const satisfies Field;

/** Describes for a note to a model which part of a text is shown. */
export function describeTextPart(shownLength: number, start: number, length: number): string {
	const end = start + shownLength;
	const note = `Characters ${start} to ${end} of ${length} are shown.`;
	if (end >= length) return note;
	return `${note} To get what follows, call again with ${quoteField('startCharacter')}: ${end}.`;
}

export const commonOptions = [...requestOptions, includeInputFieldsOption] as const;

export type RequestLimits = InferParameters<typeof requestOptions, []>;
