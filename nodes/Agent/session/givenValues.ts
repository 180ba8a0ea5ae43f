import { refusal } from '../../items/failure';

/** A list as users give it: texts separated by commas or new lines, or an array from an expression. */
export function listOf(value: unknown): string[] {
	const entries: readonly unknown[] = Array.isArray(value) ? value : textOf(value).split(/[,\n]/);
	return entries.map((entry) => textOf(entry).trim()).filter((entry) => entry !== '');
}

/** Expressions give numbers and objects where a text is meant; nothing is the empty text. */
export function textOf(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A number within its bounds; `byDefault` when nothing is given. @throws Failure 400 that names the field */
export function numberOf(value: unknown, { label, byDefault, minimum, whole = false }: NumberField): number {
	if (value === undefined || value === null || value === '') return byDefault;
	const given = Number(value);
	if (Number.isFinite(given) && given >= minimum && (!whole || Number.isInteger(given))) return given;
	throw refusal(
		`'${label}' must be a ${whole ? 'whole ' : ''}number of at least ${minimum}`,
		`It is ${JSON.stringify(value)}.`,
	);
}

export interface NumberField {
	/** As the form shows it. */
	readonly label: string;
	readonly byDefault: number;
	readonly minimum: number;
	readonly whole?: boolean;
}

/** One of the values of a choice. @throws Failure 400 that names the field and what is allowed */
export function choiceOf<const T extends string>(
	value: unknown,
	label: string,
	choices: readonly [T, ...T[]],
): T {
	if (value === undefined || value === null || value === '') return choices[0];
	const chosen = choices.find((choice) => choice === value);
	if (chosen !== undefined) return chosen;
	throw refusal(
		`'${label}' is ${JSON.stringify(value)}`,
		`Allowed are ${choices.map((choice) => `'${choice}'`).join(', ')}.`,
	);
}
