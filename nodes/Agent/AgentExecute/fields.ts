import { maxAnswerBytes } from '../../http/body';
import { refusal } from '../../items/failure';
import type { Field, Reading } from '../../parameters/field';
import { kindOf, labelOf } from '../../parameters/reading';
import { requestOptions } from '../../parameters/requestOptions';

/** Parameters and options of the execute call; defaults are part of the public interface and never change. */
export const executeFields = [
	{
		displayName: 'Session ID',
		name: 'sessionId',
		type: 'string',
		default: '',
		placeholder: 'e.g. 6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10',
		description:
			'The session in which the agent runs. Leave empty for a new one per item. Items with the same ID are worked on one after another.',
		hint: 'Leave empty unless an Agent Session Trigger listens: then enter the same ID in both nodes.',
	},
	{
		displayName: 'Start Step Name',
		name: 'startStepName',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. start',
		description: 'Name of the step where the agent starts',
	},
	{
		displayName: 'Payload',
		name: 'payloadMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Task and Input',
				value: 'taskAndInput',
				description: 'Two texts, sent as {"task": …, "input": …}',
			},
			{ name: 'JSON', value: 'json', description: 'Any JSON object' },
		],
		default: 'taskAndInput',
		description: 'How to give the payload that the agent starts with',
	},
	{
		displayName: 'Task',
		name: 'task',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		placeholder: 'e.g. Summarise the text',
		showWhen: { payloadMode: ['taskAndInput'] },
		description: 'What the agent is to do',
	},
	{
		displayName: 'Input',
		name: 'input',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		placeholder: 'e.g. {{ $json.text }}',
		showWhen: { payloadMode: ['taskAndInput'] },
		description: 'What the agent is to do it with',
	},
	{
		displayName: 'Payload (JSON)',
		name: 'payloadJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '{}',
		showWhen: { payloadMode: ['json'] },
		description: 'A JSON object. To build it from earlier data, use one expression for the whole object.',
		hint: 'e.g. ={{ { task: $json.task, input: $json.text } }}',
	},
] as const satisfies readonly Field[];

/** Said with each of the options that take the place of the credential's values. */
const notMixed = 'An item for which this is empty is refused if it brings another such value of its own';

export const executeOptions = [
	...requestOptions,
	{
		displayName: 'Include Response Headers',
		name: 'includeHeaders',
		type: 'boolean',
		default: false,
		description: 'Whether to add the headers of the response to the output',
	},
	{
		displayName: 'Max Response Size (Bytes)',
		name: 'maxResponseBytes',
		type: 'number',
		default: maxAnswerBytes,
		minimum: 1,
		maximum: 536_870_912,
		description:
			'The largest answer to read, as it is after unpacking. For a larger one the item fails, although the agent was started. The whole answer is held in memory.',
	},
	{
		displayName: 'Parallel Requests',
		name: 'parallelRequests',
		type: 'number',
		minimum: 1,
		maximum: 100,
		default: 10,
		description: 'How many items to work on at once. The output keeps the order of the input.',
	},
	{
		displayName: 'Signature',
		name: 'signature',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: `Used instead of the signature in the credential, e.g. when an earlier node signs. ${notMixed}.`,
	},
	{
		displayName: 'Text Field',
		name: 'textField',
		type: 'string',
		default: 'text',
		placeholder: 'e.g. data.text',
		description:
			"Where a JSON answer or message holds its text, as a path with dots. The output's 'output' is this text, and so is what a chat shows.",
	},
	{
		displayName: 'Timestamp (Milliseconds)',
		name: 'timestamp',
		type: 'number',
		default: 0,
		read: timestampOf,
		description: `Used instead of the time of the call: milliseconds since 1970, as signed. 0 means not set. ${notMixed}.`,
	},
	{
		displayName: 'User ID',
		name: 'userId',
		type: 'string',
		default: '',
		description: `Used instead of the user ID in the credential, for workflows that serve several users. ${notMixed}.`,
	},
	{
		displayName: 'User Public Key',
		name: 'userPublicKey',
		type: 'string',
		default: '',
		description: `Used instead of the public key in the credential. ${notMixed}.`,
	},
] as const satisfies readonly Field[];

/** As text, because an expression may give either; empty for none. 0 is how the form says that it is not set. */
function timestampOf(raw: unknown, field: Field, reading: Reading): string {
	if (typeof raw !== 'string' && typeof raw !== 'number') {
		throw refusal(
			`'${labelOf(field, reading)}' must be a number, not ${kindOf(raw)}`,
			'Give the milliseconds since 1970, 13 digits such as 1767225600000.',
		);
	}
	const digits = String(raw).trim();
	return Number(digits) === 0 ? '' : digits;
}
