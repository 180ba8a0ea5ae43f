import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../../core/errors';
import { quoteField } from '../../../fields/field';
import { isRecord } from '../../../fields/values';
import { cleanText } from '../../../untrusted/document/blocks';
import type { Item } from '../../operation';
import { readMarkdown } from './contentRequests';
import type { MarkdownReplacement } from './placeholders';

/** A text to find, and the new text in its place, as in a row of the form. */
export interface Replacement {
	readonly find: string;
	readonly replace: string;
	readonly format: 'text' | 'markdown';
}

type TextReplacement = Omit<Replacement, 'format'>;

export type ReplacementPlan = Awaited<ReturnType<typeof prepareReplacements>>;

/** @throws NodeError 400 for an empty text to find, which Google cannot find, or for Markdown that cannot be read */
export async function prepareReplacements(
	params: { readonly replacements: readonly Replacement[]; readonly insertImages: boolean },
	item: Item,
) {
	const { replacements, insertImages } = params;
	/** Requests for the replacements with plain text. */
	const textRequests = buildReplaceRequests(
		replacements.filter(({ format }) => format === 'text'),
	);
	const markdownReplacements: MarkdownReplacement[] = [];
	for (const { find, replace, format } of replacements) {
		if (format === 'text') continue;
		const content = await readMarkdown(replace, 'replacements', insertImages, item);
		// Trims the text to find, because its paragraph may have spaces around it. A text of spaces would match every empty paragraph.
		markdownReplacements.push({ find: refuseEmpty(cleanText(find).trim()), content });
	}
	return { textRequests, markdownReplacements };
}

/** @returns the same text to find @throws NodeError 400 for an empty text */
function refuseEmpty(find: string): string {
	if (find !== '') return find;
	throw createRefusal(
		`${quoteField('replacements')} has an empty text to find`,
		'Nothing was written. Enter the text to find, or remove the row. If it contains {{ }}, set it to Fixed. Otherwise n8n evaluates it as an expression.',
	);
}

/** Builds requests that replace texts in all tabs. */
function buildReplaceRequests(replacements: readonly TextReplacement[]) {
	return replacements.map(({ find, replace }) => {
		const containsText = { text: refuseEmpty(cleanText(find)), matchCase: true };
		return { replaceAllText: { containsText, replaceText: cleanText(replace) } };
	});
}

type ReplaceRequest = ReturnType<typeof buildReplaceRequests>[number];
const placeholderPattern = /\{\{[^{}\n\v]{1,200}\}\}/g;
/** Most placeholders that a hint names, because a document may have any number of them. */
const maxNamedPlaceholders = 20;

/** Plans all replacements with plain text, also of placeholders that the input item fills. A hint names the placeholders that stay in the text. */
export function planTextReplacements(
	{ textRequests, markdownReplacements }: ReplacementPlan,
	documentText: string,
	item: Item,
	{ fillFromInput }: { readonly fillFromInput: boolean },
): ReplaceRequest[] {
	let remainingText = documentText;
	for (const { find } of markdownReplacements) remainingText = remainingText.replaceAll(find, '');
	for (const { replaceAllText } of textRequests)
		remainingText = remainingText.replaceAll(replaceAllText.containsText.text, '');
	const unfilledPlaceholders: string[] = [];
	const fieldReplacements: TextReplacement[] = [];
	for (const find of new Set(remainingText.match(placeholderPattern))) {
		const value = fillFromInput
			? findItemValue(item.json, find.slice(2, -2).trim())
			: undefined;
		if (value === undefined) unfilledPlaceholders.push(`'${find}'`);
		else fieldReplacements.push({ find, replace: value });
	}
	if (unfilledPlaceholders.length > 0) {
		const advice = fillFromInput
			? 'The input item has no fields with these names.'
			: `Add them to ${quoteField('replacements')}, or turn on ${quoteField('fillFromInput')} if the input item has fields with these names.`;
		const placeholderList = unfilledPlaceholders.slice(0, maxNamedPlaceholders).join(', ');
		item.addHint(`These placeholders were not filled: ${placeholderList}. ${advice}`);
	}
	// Values with placeholders come last, so that no later request fills a field into the value of another field.
	const hasBraces = ({ replace }: TextReplacement) => replace.includes('{{');
	const plainReplacements = fieldReplacements.filter((row) => !hasBraces(row));
	const orderedReplacements = [...plainReplacements, ...fieldReplacements.filter(hasBraces)];
	return [...textRequests, ...buildReplaceRequests(orderedReplacements)];
}

/** Finds a field by its name, or by a path such as `customer.city`. @returns the value as text; undefined if there is no such field */
function findItemValue(json: IDataObject, name: string): string | undefined {
	const path = Object.hasOwn(json, name) ? [name] : name.split('.');
	const readKey = (object: unknown, key: string) =>
		isRecord(object) && Object.hasOwn(object, key) ? object[key] : undefined;
	const value = path.reduce(readKey, json);
	if (typeof value === 'string' || value === undefined) return value;
	return value === null ? '' : JSON.stringify(value);
}
