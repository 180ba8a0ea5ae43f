import type { OutputItem, StoredBinary } from '../../operation';

/**
 * Builds an item with the attachments as binary fields: attachment_0, attachment_1 and so on, with
 * the default prefix.
 */
export function toMailItem(
	json: OutputItem['json'],
	files: readonly StoredBinary[] = [],
	prefix = 'attachment_',
): OutputItem {
	if (files.length === 0) return { json };
	const namedFiles = files.map((file, index) => [`${prefix}${index}`, file] as const);
	return { json, binary: Object.fromEntries(namedFiles) };
}
