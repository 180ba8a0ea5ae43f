import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { isRecord } from '../../../fields/values';
import { cleanText } from '../../../untrusted/document/blocks';
import type { Item } from '../../operation';
import { readMarkdown } from './contentRequests';
import type { ContentReplacement } from './placeholders';

/** A text to find, and what to put in its place. */
export interface Replacement {
	readonly name: string;
	readonly value: string;
	readonly format: 'text' | 'markdown';
}

export interface Replacements {
	readonly texts: readonly ReplaceRequest[];
	readonly contents: readonly ContentReplacement[];
}

/** @throws NodeError 400 for an empty text, which Google cannot find, and for Markdown that cannot be read */
export async function prepareReplacements(
	params: { readonly replacements: readonly Replacement[]; readonly insertImages: boolean },
	item: Item,
): Promise<Replacements> {
	const { replacements, insertImages } = params;
	const texts = buildReplaceRequests(replacements.filter(({ format }) => format === 'text'));
	const contents: ContentReplacement[] = [];
	for (const { name, value, format } of replacements) {
		if (format === 'text') continue;
		const parsed = await readMarkdown(value, 'replacements', insertImages, item);
		// Trims the text, because its paragraph may have spaces around it. Refuses a space alone, which would match every empty paragraph.
		contents.push({ find: cleanFind(cleanText(name).trim()), parsed });
	}
	return { texts, contents };
}

function cleanFind(name: string): string {
	const text = cleanText(name);
	if (text !== '') return text;
	throw createRefusal(
		`${quoteField('replacements')} has an empty text to find`,
		'Nothing was written. Enter the text to find, or remove the row. If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
	);
}

/** The requests that replace texts in all tabs. */
function buildReplaceRequests(pairs: ReadonlyArray<Omit<Replacement, 'format'>>) {
	return pairs.map(({ name, value }) => {
		const containsText = { text: cleanFind(name), matchCase: true };
		return { replaceAllText: { containsText, replaceText: cleanText(value) } };
	});
}

type ReplaceRequest = ReturnType<typeof buildReplaceRequests>[number];

const placeholderPattern = /\{\{([^{}\n\v]{1,200})\}\}/g;
/** How many placeholders a hint names, because a document may have any number. */
const maxNamedPlaceholders = 20;

/** Adds a replacement for each placeholder that a field of the item fills. A hint names the others. @param text of the document */
export function planFill(
	{ texts, contents }: Replacements,
	text: string,
	item: Item,
	fillFromInput: boolean,
): ReplaceRequest[] {
	const finds = texts.map(({ replaceAllText }) => replaceAllText.containsText.text);
	const all = [...contents.map(({ find }) => find), ...finds];
	const kept = all.reduce((rest, find) => rest.replaceAll(find, ''), text);
	const paths = new Map([...kept.matchAll(placeholderPattern)].map(([whole, name = '']) => [whole, name]));
	const found = [...paths].map(([name, path]) => ({
		name,
		value: fillFromInput ? findField(item.json, path.trim()) : undefined,
	}));
	const unfilled = found.flatMap(({ name, value }) => (value === undefined ? [`'${name}'`] : []));
	if (unfilled.length > 0) {
		const advice = fillFromInput
			? 'The input item has no fields with these names.'
			: `Add them to ${quoteField('replacements')}, or turn on ${quoteField('fillFromInput')} if the input item has fields with these names.`;
		const names = unfilled.slice(0, maxNamedPlaceholders).join(', ');
		item.addHint(`These placeholders were not filled: ${names}. ${advice}`);
	}
	const filled = found.flatMap(({ name, value }) => (value === undefined ? [] : { name, value }));
	// Puts values that contain placeholders last, so that no field is filled into the text of another one.
	const countBraces = ({ value }: { value: string }) => Number(value.includes('{{'));
	return [...texts, ...buildReplaceRequests(filled.toSorted((a, b) => countBraces(a) - countBraces(b)))];
}

/** The text of the field with this name, or of the one that a path such as `customer.city` leads to. */
function findField(fields: IDataObject, name: string): string | undefined {
	const path = Object.hasOwn(fields, name) ? [name] : name.split('.');
	const readKey = (at: unknown, key: string) =>
		isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
	const value = path.reduce(readKey, fields);
	if (typeof value === 'string' || value === undefined) return value;
	return value === null ? '' : JSON.stringify(value);
}
