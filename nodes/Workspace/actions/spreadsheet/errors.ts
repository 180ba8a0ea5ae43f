import { isNodeError, NodeError, shortened } from '../../../core/errors';
import { named } from '../../../fields/field';
import type { Item } from '../../operation';

export function spreadsheetUrl(spreadsheetId: string): string {
	return `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`;
}

/** Google's refusals of ranges, for all operations. */
export const rangeAdvice = `Check ${named('range')}: the tab must exist, and the range must be within its rows and columns. To write below the last row, use Append, which adds rows.`;

/** A failure with an unknown outcome. */
export function unknownOutcome(
	{ code, status, message }: NodeError,
	what: string,
	description: string,
): NodeError {
	return new NodeError({ code, status, message: `${what}: ${message}`, description, ambiguous: true });
}

/** For rows after a failed request: sending them would break the order. */
export function notSent({ code, status, message }: NodeError, done: 'appended' | 'written'): NodeError {
	return new NodeError({
		code,
		status,
		message: `Not sent, because the previous rows were not ${done}: ${message}`,
		description: 'Nothing was written for this item.',
	});
}

/** Nothing is sent if one member is invalid and the node would stop because of it. */
export function notWritten(
	entries: readonly unknown[],
	members: ReadonlyArray<{ readonly item: Item }>,
	refused: number,
	done: 'appended' | 'written',
): NodeError[] {
	const cause = entries[refused];
	if (!isNodeError(cause)) return [];
	const { code, status, message, description } = cause;
	const index = members[refused]?.item.index ?? refused;
	const others = new NodeError({
		code,
		status,
		message: `Nothing was ${done} because of item ${index}: ${message}`,
		description,
	});
	return entries.map((entry) => (isNodeError(entry) ? entry : others));
}

/** Rows that are in the wrong place. */
export function misplaced(updatedRange: string, belongs: string, cause: NodeError | undefined): NodeError {
	const why = cause ? ` (${cause.message})` : '';
	return new NodeError({
		code: cause?.code ?? 502,
		status: cause?.status,
		message: `The rows were appended at ${updatedRange}, not ${belongs}, and could not be moved${why}`,
		description: `Move them in the sheet, or delete them before you run this again. To prevent this, set ${named('range')} to the cells of the header row, such as Sheet1!A1:D1.`,
		carriedOut: true,
	});
}

/** Names for a message. */
export function list(names: readonly string[]): string {
	const shown = names.slice(0, 20).map((name) => `'${shortened(name, 60)}'`);
	return [...shown, ...(names.length > shown.length ? [`${names.length - shown.length} more`] : [])].join(
		', ',
	);
}
