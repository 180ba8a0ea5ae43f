import { refusal } from '../../../../core/errors';
import { named } from '../../../../fields/naming';
import { hasNames } from '../namedCells';
import type { WriteParams } from '../writeFields';

/** What happens to the rows that are there. Without a mode, columns to match by mean an update. @throws Failure 400 */
export function writeModeOf(params: WriteParams): WriteParams['writeMode'] {
	const { writeMode, matchColumns } = params;
	const isKeyed = matchColumns.length > 0;
	if (!hasNames(params) && (isKeyed || writeMode !== 'overwrite')) {
		throw refusal(
			`${named(isKeyed ? 'matchColumns' : 'writeMode')} needs rows with column names, but ${named('values')} holds rows of cells`,
			'Enter rows as objects, such as [{ "Name": "Anna", "Age": 31 }].',
		);
	}
	if (isKeyed && writeMode === 'replace') {
		throw refusal(
			`${named('matchColumns')} cannot be used when ${named('writeMode')} is replace`,
			'Remove one of them: all rows are replaced, so none is looked for.',
		);
	}
	if (isKeyed) return 'update';
	if (writeMode !== 'update') return writeMode;
	throw refusal(
		`${named('matchColumns')} is required to update rows`,
		`Choose the columns that identify a row, or rowNumber for rows that were read from this tab. To write without looking for rows, set ${named('writeMode')} to overwrite or replace.`,
	);
}
