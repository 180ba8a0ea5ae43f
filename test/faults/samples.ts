import { fieldsOf, type Field, type Operation, type ResourceName } from '../../nodes/Workspace/operation';
import { resources } from '../../nodes/Workspace/resources';

/** What a test gives an operation, so that its traces can be counted. Legal as Base64, too. */
export const marker = 'canaryMarker';

/** An operation as the matrix runs it. */
export interface Subject {
	/** As in the page: "Mail: Send, with a key". */
	readonly name: string;
	readonly resource: ResourceName;
	readonly operation: Operation;
	readonly withKey: boolean;
}

/** Every operation that there is; those that take an idempotency key once more with one. */
export const subjects: readonly Subject[] = resources.flatMap(({ value, name, operations }) =>
	operations.flatMap((operation) => {
		const plain = { name: `${name}: ${operation.name}`, resource: value, operation, withKey: false };
		const takesKey = operation.options.some((option) => option.name === 'idempotencyKey');
		return takesKey ? [plain, { ...plain, name: `${plain.name}, with a key`, withKey: true }] : [plain];
	}),
);

/** What the stand-in was given before, by the field that names it. */
export type Seeds = Readonly<Record<'documentId' | 'spreadsheetId' | 'messageId', string>>;

/** Not required, but without them an operation does less than it can. */
const contents = ['name', 'content', 'values'];

let keys = 0;

/** An input object for the operation, from its own definition. @param text put wherever a text fits */
export function inputOf(
	{ resource, operation, withKey }: Subject,
	seeds: Seeds,
	text = marker,
): Record<string, unknown> {
	const given = fieldsOf(operation)
		.filter(({ name, holds, required }) => required ?? (holds === 'tab' || contents.includes(name)))
		.map((field) => [field.name, sampleOf(field, seeds, text)]);
	return {
		resource,
		operation: operation.value,
		...(Object.fromEntries(given) as Record<string, unknown>),
		// A process remembers the keys that it has used.
		...(withKey && { idempotencyKey: `key-${++keys}` }),
	};
}

function sampleOf({ name, type, holds, options }: Field, seeds: Seeds, text: string): unknown {
	if (Object.hasOwn(seeds, name)) return seeds[name as keyof Seeds];
	if (holds === 'addressList') return 'ann@example.com';
	if (holds === 'rows' || holds === 'records') return [[text]];
	if (holds === 'tab') return 'Sheet1';
	if (options?.[0]) return options[0].value;
	if (type === 'string' && holds === undefined) return text;
	throw new Error(`No sample for the field ${name}: give it one in test/faults/samples.ts`);
}
