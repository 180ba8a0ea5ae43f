import { refusal } from '../../items/failure';
import type { NodeParameters } from '../../parameters/nodeParameters';

/** Options that take the place of the credential's values, as the form names them. */
const labels = {
	userId: 'User ID',
	userPublicKey: 'User Public Key',
	signature: 'Signature',
	timestamp: 'Timestamp',
} as const;

type Name = keyof typeof labels;

const names = Object.keys(labels) as Name[];

type Overrides = Readonly<Record<Name, string>>;

/** Whether an item's own values, such as a timestamp, may be outdated when the item is processed. */
export function areOverridesComputed(parameters: NodeParameters): boolean {
	return names.some((name) => parameters.isComputed('options', name));
}

/**
 * An item must override all of these values or none: the credential's signature must not be sent for another user. A field left empty
 * in the form uses the credential's value for all items; only an expression can be empty for one item.
 * @throws Failure 400 that names the option
 */
export function checkOverrides(options: Overrides, parameters: NodeParameters): void {
	const given = names.find((name) => options[name].trim() !== '');
	if (given === undefined) return;
	const missing = names.find(
		(name) => options[name].trim() === '' && parameters.isExpression('options', name),
	);
	if (missing === undefined) return;
	throw refusal(
		`The option '${labels[missing]}' is empty for this item, but '${labels[given]}' is not`,
		`Values of different users must not be mixed. Set '${labels[missing]}' for every item that sets '${labels[given]}', or remove the option to use the credential's value for all items.`,
	);
}
