import { refusal } from '../../core/failure';
import type { ParamsOf } from '../../fields/field';
import type { NodeParameters } from '../../fields/nodeParameters';
import { Naming } from '../../fields/naming';
import { paramsOf } from '../../fields/params';
import { executeFields, executeOptions } from './fields';
import { initialPayload, type KeptTexts } from './payload';
import { waitFields, waitOptions } from './waitFields';

export const fields = [...executeFields, ...waitFields] as const;
export const options = [...executeOptions, ...waitOptions] as const;
const all = [...fields, ...options];

export type ExecuteParams = ParamsOf<typeof fields, typeof options>;

/** What the node's failures may name. */
export const naming = new Naming(all, 'fields');

/** What the user gave for one item, checked. */
export interface ItemParameters {
	readonly params: ExecuteParams;
	/** JSON text. @throws Failure 400 when it is read again and can no longer be sent */
	initialPayload(): string;
	/** As they are when the item's turn comes. @throws Failure 400 for what can no longer be sent */
	paramsNow(): ExecuteParams;
}

/** @throws Failure 400 that names the parameter */
export function itemParameters(parameters: NodeParameters, index: number, texts: KeptTexts): ItemParameters {
	const read = (): ExecuteParams => {
		// All its fields are in the form, so the time zone is never asked for.
		const params = paramsOf(all, parameters.given(fields, index), { mode: 'fields', timezone: 'UTC' });
		checkOverrides(params, parameters);
		return params;
	};
	const params = read();
	return {
		params,
		initialPayload: keptPayload(params, parameters, { read, texts }),
		paramsNow: () => (areOverridesComputed(parameters) ? read() : params),
	};
}

const payloadFields = ['task', 'input', 'payloadJson'];

interface Reader {
	readonly texts: KeptTexts;
	readonly read: () => ExecuteParams;
}

function keptPayload(
	params: ExecuteParams,
	parameters: NodeParameters,
	{ read, texts }: Reader,
): () => string {
	const text = initialPayload(params);
	if (!payloadFields.some((name) => parameters.isComputed(name))) return text;
	return texts.keep(text(), () => initialPayload(read())());
}

/** Options that take the place of the credential's values, as the form names them. */
const labels = {
	userId: 'User ID',
	userPublicKey: 'User Public Key',
	signature: 'Signature',
	timestamp: 'Timestamp',
} as const;

type Override = keyof typeof labels;

const overrides = Object.keys(labels) as Override[];

/** Whether an item's own values, such as a timestamp, may be outdated when the item is processed. */
function areOverridesComputed(parameters: NodeParameters): boolean {
	return overrides.some((name) => parameters.isComputed('options', name));
}

/**
 * An item must override all of these values or none: the credential's signature must not be sent for another user. A field left empty
 * in the form uses the credential's value for all items; only an expression can be empty for one item.
 * @throws Failure 400 that names the option
 */
function checkOverrides(options: ExecuteParams, parameters: NodeParameters): void {
	const given = overrides.find((name) => options[name].trim() !== '');
	if (given === undefined) return;
	const missing = overrides.find(
		(name) => options[name].trim() === '' && parameters.isExpression('options', name),
	);
	if (missing === undefined) return;
	throw refusal(
		`The option '${labels[missing]}' is empty for this item, but '${labels[given]}' is not`,
		`Values of different users must not be mixed. Set '${labels[missing]}' for every item that sets '${labels[given]}', or remove the option to use the credential's value for all items.`,
	);
}
