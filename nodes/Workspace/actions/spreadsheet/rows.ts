import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Cell } from './cells';

/** The body of a request that writes rows. Not a plain object, because the generated client would copy it cell by cell before sending. */
export class Rows implements sheets_v4.Schema$ValueRange {
	readonly values: Cell[][];

	constructor(values: Cell[][]) {
		this.values = values;
	}
}
