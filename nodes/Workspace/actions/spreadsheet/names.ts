import { shortened } from '../../../core/text';

/** Names for a message. */
export function list(names: readonly string[]): string {
	const shown = names.slice(0, 20).map((name) => `'${shortened(name, 60)}'`);
	return [...shown, ...(names.length > shown.length ? [`${names.length - shown.length} more`] : [])].join(
		', ',
	);
}
