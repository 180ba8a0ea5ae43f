import { spreadsheetType } from '../../dev/google/sheets/service';
import { append, create, files, get, read, refused, service, sheet, update } from './sheetsCalls';

const entered = { valueInputOption: 'USER_ENTERED' };
const unformatted = { valueRenderOption: 'UNFORMATTED_VALUE' };

describe('A1 ranges', () => {
	test.each([
		['Sheet1', 'Sheet1!A1:Z1000'],
		['Sheet1!A1', 'Sheet1!A1'],
		['A1:B2', 'Sheet1!A1:B2'],
		['b2:a1', 'Sheet1!A1:B2'],
		['$A$1:$B$2', 'Sheet1!A1:B2'],
		['R1C1:R2C2', 'Sheet1!A1:B2'],
		['Sheet1!A:B', 'Sheet1!A1:B1000'],
		['Sheet1!A5:B', 'Sheet1!A5:B1000'],
		['Sheet1!2:3', 'Sheet1!A2:Z3'],
		['Sheet1!Y999:AB2000', 'Sheet1!Y999:Z1000'],
	])('%s is %s', (range, echoed) => {
		expect(read(sheet(), range)).toEqual({ range: echoed, majorDimension: 'ROWS' });
	});

	test.each([
		['Jon’s Data', "'Jon’s Data'!A1"],
		["Jon's Data", "'Jon''s Data'!A1"],
		['Q1!Q2', "'Q1!Q2'!A1"],
		['CRM26', "'CRM26'!A1"],
		['2026', "'2026'!A1"],
		['😀', "'😀'!A1"],
		['Plain_1', 'Plain_1!A1'],
	])('the title %s is printed so that it can be read back', (title, printed) => {
		const id = sheet([['x']], title);
		const { range = '' } = read(id, `'${title.replaceAll("'", "''")}'!A1`);
		expect(range).toBe(printed);
		expect(read(id, range ?? '').values).toEqual([['x']]);
	});

	test('a title that looks like a cell is a cell when it stands without quotes', () => {
		const id = service.seed({
			title: 'T',
			tabs: [
				{ title: 'First', columnCount: 3000 },
				{ title: 'CRM26', rows: [['tab']] },
			],
			file: { clientId: 'client' },
		});
		expect(read(id, 'CRM26').range).toBe('First!CRM26');
		expect(read(id, "'CRM26'").values).toEqual([['tab']]);
	});

	test.each([
		'Nothing',
		'Nothing!A1',
		'Sheet1!',
		'Sheet1!Leads',
		'A1:',
		'A1:B2:C3',
		'A',
		'',
		"'Sheet1",
	])('%p cannot be parsed', (range) => {
		expect(refused(400, () => read(sheet(), range))).toBe(`Unable to parse range: ${range}`);
	});

	test('a start outside the grid is refused', () => {
		expect(refused(400, () => read(sheet(), 'Sheet1!A2000'))).toBe(
			'Range (Sheet1!A2000) exceeds grid limits. Max rows: 1000, max columns: 26',
		);
	});
});

describe('reading', () => {
	test('an empty range has no values', () => {
		expect(read(sheet(), 'Sheet1!A1:B2')).not.toHaveProperty('values');
	});

	test('blank rows inside are [], what is empty at the ends is left out, rows are ragged', () => {
		const id = sheet([['a', '', 'c'], [], ['x'], ['', '']]);
		expect(read(id, 'Sheet1!A1:E9')).toEqual({
			range: 'Sheet1!A1:E9',
			majorDimension: 'ROWS',
			values: [['a', '', 'c'], [], ['x']],
		});
	});

	test('columns', () => {
		const id = sheet([['a', 1], ['b'], ['c', 3]]);
		expect(read(id, 'A1:B9', { majorDimension: 'COLUMNS', ...unformatted }).values).toEqual([
			['a', 'b', 'c'],
			[1, '', 3],
		]);
	});

	test.each<[string, string, string, unknown, unknown]>([
		['=4/2', 'Sheet1!A1', '2', 2, '=4/2'],
		['2020-01-01', 'Sheet1!A1', '2020-01-01', 43831, 43831],
		['2,000,000.01', 'Sheet1!A1', '2,000,000.01', 2000000.01, 2000000.01],
		['007', 'Sheet1!A1', '7', 7, 7],
		['12.5%', 'Sheet1!A1', '12.5%', 0.125, 0.125],
		['$1234', 'Sheet1!A1', '$1,234', 1234, 1234],
		['true', 'Sheet1!A1', 'TRUE', true, true],
		['12:00', 'Sheet1!A1', '12:00', 0.5, 0.5],
		['2020-01-01 12:00', 'Sheet1!A1', '2020-01-01 12:00:00', 43831.5, 43831.5],
		['2020-02-31', 'Sheet1!A1', '2020-02-31', '2020-02-31', '2020-02-31'],
		["'=1+1", 'Sheet1!A1', '=1+1', '=1+1', '=1+1'],
		['+1+2', 'Sheet1!A1', '3', 3, '=+1+2'],
		['=1/0', 'Sheet1!A1', '#DIV/0!', '#DIV/0!', '=1/0'],
		['=SUM(B1)', 'Sheet1!A1', '#NAME?', '#NAME?', '=SUM(B1)'],
		['plain', 'Sheet1!A1', 'plain', 'plain', 'plain'],
	])('%s under USER_ENTERED', (typed, range, shown, value, formula) => {
		const id = sheet();
		update(id, range, [[typed]], entered);
		expect(read(id, range).values).toEqual([[shown]]);
		expect(read(id, range, unformatted).values).toEqual([[value]]);
		expect(read(id, range, { valueRenderOption: 'FORMULA' }).values).toEqual([[formula]]);
	});

	test('"1/2" is a date of this year', () => {
		const id = sheet();
		update(id, 'A1', [['1/2']], entered);
		const serial = Math.round(Date.UTC(new Date().getUTCFullYear(), 0, 2) / 86_400_000) + 25569;
		expect(read(id, 'A1', unformatted).values).toEqual([[serial]]);
		const asText = { ...unformatted, dateTimeRenderOption: 'FORMATTED_STRING' };
		expect(read(id, 'A1', asText).values).toEqual([['1/2']]);
	});

	test('RAW stores as it stands', () => {
		const id = sheet();
		update(id, 'A1', [['007', '=4/2', 7, true, '1/2']]);
		expect(read(id, '1:1', unformatted).values).toEqual([['007', '=4/2', 7, true, '1/2']]);
		expect(read(id, '1:1').values).toEqual([['007', '=4/2', '7', 'TRUE', '1/2']]);
	});
});

describe('writing', () => {
	test('the updated range is what was really written', () => {
		expect(update(sheet(), 'Sheet1!A1:B2', [['a', 'b']])).toMatchObject({
			updatedRange: 'Sheet1!A1:B1',
			updatedRows: 1,
			updatedColumns: 2,
			updatedCells: 2,
		});
	});

	test('null leaves a cell, "" clears it', () => {
		const id = sheet([['a', 'b', 'c']]);
		expect(update(id, 'A1', [[null, '', 'z']])).toMatchObject({
			updatedRange: 'Sheet1!B1:C1',
			updatedCells: 2,
		});
		expect(service.values(id, 'A1:C1')).toEqual([['a', '', 'z']]);
	});

	test('valueInputOption is required by the server', () => {
		const id = sheet();
		const message = "'valueInputOption' is required but not specified";
		expect(refused(400, () => update(id, 'A1', [['a']], { valueInputOption: '' }))).toBe(
			message,
		);
		expect(refused(400, () => append(id, 'A1', [['a']], { valueInputOption: '' }))).toBe(
			message,
		);
	});

	test.each<[string, string, unknown[][], RegExp]>([
		[
			'rows past the grid',
			'A1000',
			[['a'], ['b']],
			/^Range \(Sheet1!A1000:A1001\) exceeds grid limits/,
		],
		[
			'columns past the grid',
			'Z1',
			[['a', 'b']],
			/^Range \(Sheet1!Z1:AA1\) exceeds grid limits/,
		],
		[
			'rows past the range',
			'A1:B1',
			[['a'], ['b']],
			/within range \[Sheet1!A1:B1\].*to row \[2\]/,
		],
		['columns past the range', 'A:B', [['a', 'b', 'c']], /tried writing to column \[C\]/],
		['an object', 'A1', [['a'], [{}]], /^Invalid values\[1\]\[0\]: struct_value/],
		['an array', 'A1', [[['a']]], /^Invalid values\[0\]\[0\]: list_value/],
		['a long text', 'A1', [['x'.repeat(50_001)]], /more than the maximum of 50000 characters/],
	])('refused, with nothing written: %s', (_, range, values, message) => {
		const id = sheet([['before']]);
		expect(refused(400, () => update(id, range, values))).toMatch(message);
		expect(service.values(id, 'Sheet1')).toEqual([['before']]);
	});
});

describe('spreadsheets', () => {
	test('a new one has one tab and its address names the user', () => {
		const made = create({ properties: { title: 'T' } });
		expect(made).toMatchObject({
			properties: { title: 'T', locale: 'en_US' },
			sheets: [
				{ properties: { sheetId: 0, title: 'Sheet1', gridProperties: { rowCount: 1000 } } },
			],
		});
		expect(made.spreadsheetUrl).toMatch(/\/edit\?ouid=\d+$/);
		expect(files.get(made.spreadsheetId ?? '')?.parents).toEqual(['root']);
	});

	test('one that Drive made has the same content', () => {
		const { id } = files.add({ name: 'D', mimeType: spreadsheetType, clientId: 'client' });
		expect(get(id)).toMatchObject({ sheets: [{ properties: { title: 'Sheet1' } }] });
	});

	test('an unknown one is not found', () => {
		expect(refused(404, () => get('nothing'))).toBe('Requested entity was not found.');
	});
});
