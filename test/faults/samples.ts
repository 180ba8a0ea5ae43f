import {
	getAllFields,
	type Field,
	type Operation,
	type ResourceName,
} from '../../nodes/Workspace/operation';
import { resources } from '../../nodes/Workspace/resources';

/** A text that a test gives to an operation, so that its traces can be counted. It is valid as Base64, too. */
export const marker = 'canaryMarker';

/** An operation as the matrix runs it. */
export interface Subject {
	/** As in the page: "Mail: Send, with a key". */
	readonly name: string;
	readonly resource: ResourceName;
	readonly operation: Operation;
	readonly variant: Variant;
}

/** A way in which operations with a field make other requests. */
interface Variant {
	readonly suffix: string;
	readonly field: string;
	readonly given: (text: string, seeds: Seeds) => Record<string, unknown>;
	/** Too much for many runs. */
	readonly isLarge?: true;
}

let keys = 0;
const plain: Variant = { suffix: '', field: '', given: () => ({}) };
/** The binary field of an item with more bytes than go into one request. */
export const largeField = 'large';

/** In the document that the account has. */
const replaceLine = (text: string) => ({ find: 'First line', replace: text, format: 'markdown' });

const variants: readonly Variant[] = [
	{
		suffix: ', with a key',
		field: 'idempotencyKey',
		// A process remembers the keys that it has used.
		given: () => ({ idempotencyKey: `key-${++keys}` }),
	},
	{ suffix: ', as a draft', field: 'saveAsDraft', given: () => ({ saveAsDraft: true }) },
	{
		suffix: ', with other labels',
		field: 'addLabels',
		given: () => ({ addLabels: ['STARRED'], removeLabels: ['INBOX'] }),
	},
	{
		suffix: ', with files of Drive',
		field: 'driveFiles',
		given: (_text, { driveFileId, documentId }) => ({ driveFiles: [driveFileId, documentId] }),
	},
	{
		suffix: ', of an email',
		field: 'attachment',
		given: (_text, { mailWithFileId }) => ({
			contentSource: 'mailAttachment',
			messageId: mailWithFileId,
			attachment: 'a.txt',
		}),
	},
	{ suffix: ', as a file', field: 'format', given: () => ({ format: 'pdf' }) },
	{ suffix: ', in a section', field: 'section', given: () => ({ section: 'Results' }) },
	{ suffix: ', in a section', field: 'underHeading', given: () => ({ underHeading: 'Results' }) },
	{
		suffix: ', with a replacement',
		field: 'allowEmpty',
		given: (text) => ({ content: '', replacements: [replaceLine(text)] }),
	},
	{
		suffix: ', from a template',
		field: 'templateId',
		given: (text, { documentId }) => ({
			templateId: documentId,
			content: '',
			replacements: [replaceLine(text)],
		}),
	},
	{
		suffix: ', above 5 MB',
		field: 'contentSource',
		given: () => ({ contentSource: 'binary', binaryPropertyName: [largeField] }),
		isLarge: true,
	},
	{
		suffix: ', converted',
		field: 'convertTo',
		given: (text) => ({
			contentSource: 'text',
			content: text,
			mimeType: 'text/plain',
			convertTo: 'document',
		}),
	},
];

/** Every operation that there is, and its variants. */
export const subjects: readonly Subject[] = resources.flatMap(({ value, name, operations }) =>
	operations.flatMap((operation) => {
		const fields = getAllFields(operation).map((field) => field.name);
		return [plain, ...variants.filter(({ field }) => fields.includes(field))].map(
			(variant) => ({
				name: `${name}: ${operation.name}${variant.suffix}`,
				resource: value,
				operation,
				variant,
			}),
		);
	}),
);

/** What the stand-in was given before, by the field that names it. */
export type Seeds = Readonly<
	Record<'documentId' | 'spreadsheetId' | 'messageId' | 'mailWithFileId' | 'driveFileId', string>
>;

/** Optional fields without which an operation would do less than it can. */
const contents = ['name', 'content', 'values', 'to', 'subject'];

/** An input object for the operation, from its own definition. @param text put wherever a text fits */
export function inputOf(
	{ resource, operation, variant }: Subject,
	seeds: Seeds,
	text = marker,
): Record<string, unknown> {
	// A document always has a tab, and no operation needs its name.
	const wanted = resource === 'spreadsheet' ? [...contents, 'tab'] : contents;
	const allFields = getAllFields(operation);
	/** Whether the operation has the field as long as all choices have their defaults. */
	const isShown = ({ showWhen = {} }: Field) =>
		Object.entries(showWhen).every(([name, values]) => {
			const choice = allFields.find((field) => field.name === name);
			const value = choice?.jsonDefault ?? choice?.default;
			return values.some((one) => one === value);
		});
	const given = allFields
		.filter((field) => (field.required ? isShown(field) : wanted.includes(field.name)))
		.map((field) => [field.name, sampleOf(field, seeds, text)]);
	return {
		resource,
		operation: operation.value,
		...(Object.fromEntries(given) as Record<string, unknown>),
		...variant.given(text, seeds),
	};
}

function sampleOf({ name, type, format, options }: Field, seeds: Seeds, text: string): unknown {
	if (Object.hasOwn(seeds, name)) return seeds[name as keyof Seeds];
	if (format === 'addressList') return 'ann@example.com';
	if (format === 'rows' || format === 'records') return [[text]];
	if (format === 'tab') return 'Sheet1';
	if (options?.[0]) return options[0].value;
	if (type === 'string' && format === undefined) return text;
	throw new Error(`No sample for the field ${name}: give it one in test/faults/samples.ts`);
}
