import type { GoogleAccount } from '../googleAccount.ts';
import type { Made } from '../steps.ts';
import { at, ok, refusal, type Question } from './reading.ts';

/** Rows of the tab, few enough to write past them. */
const rowCount = 5;

export async function spreadsheetFacts(
	account: GoogleAccount,
	prefix: string,
	made: Made[],
): Promise<Question[]> {
	const ask = (method: string, path: string, body?: unknown) =>
		account.ask(method, 'sheetsApiBase', path, body);
	const gridProperties = { rowCount, columnCount: 20 };
	const created = ok(
		await ask('POST', '', {
			properties: { title: `${prefix} facts` },
			sheets: ['Facts', 'Q1'].map((title, sheetId) => ({
				properties: { title, sheetId, gridProperties },
			})),
		}),
		'creating a spreadsheet',
	);
	const id = String(at(created, 'spreadsheetId'));
	made.push({
		what: 'a spreadsheet for facts',
		address: `https://docs.google.com/spreadsheets/d/${id}`,
	});
	const values = (method: string, range: string, rows?: unknown[][], more = '') =>
		ask(
			method,
			`/${id}/values/${encodeURIComponent(range)}${more}${rows === undefined ? '' : '?valueInputOption=RAW'}`,
			rows && { values: rows },
		);
	const batch = (...requests: object[]) => ask('POST', `/${id}:batchUpdate`, { requests });
	const metadata = () =>
		batch({
			createDeveloperMetadata: {
				developerMetadata: {
					metadataId: 4711,
					metadataKey: 'live-test',
					metadataValue: '1',
					visibility: 'DOCUMENT',
					location: { spreadsheet: true },
				},
			},
		});
	return [
		{
			claim: 'An unquoted Q1 is a cell even if a tab has that name.',
			async ask() {
				const range = String(at(ok(await values('GET', 'Q1'), 'reading Q1'), 'range'));
				const isCell = /^'?Facts'?!Q1(:Q1)?$/.test(range);
				return { seen: `Google read ${range}.`, isAsClaimed: isCell };
			},
		},
		{
			claim: 'A quoted Q1 is the tab of that name.',
			async ask() {
				const range = String(at(ok(await values('GET', "'Q1'"), 'reading Q1'), 'range'));
				return { seen: `Google read ${range}.`, isAsClaimed: /^'?Q1'?!/.test(range) };
			},
		},
		{
			claim: 'A write that starts past the grid is refused with 400.',
			async ask() {
				const answer = await values('PUT', `Facts!A${rowCount + 10}`, [['x']]);
				return {
					seen: `Google answered ${refusal(answer)}.`,
					isAsClaimed: answer.status === 400,
				};
			},
		},
		{
			claim: 'Does a write that starts inside the grid and ends past it extend the grid?',
			async ask() {
				const rows = Array.from({ length: 3 }, (_, n) => [`row ${n}`]);
				const answer = await values('PUT', `'Q1'!A${rowCount - 1}`, rows);
				return { seen: `Google answered ${refusal(answer)}.`, isAsClaimed: undefined };
			},
		},
		{
			claim: 'Appended rows inherit the format of the row above.',
			async ask() {
				const bold = { userEnteredFormat: { textFormat: { bold: true } } };
				ok(
					await batch({
						updateCells: {
							start: { sheetId: 0, rowIndex: 0, columnIndex: 0 },
							rows: [
								{
									values: [
										{ ...bold, userEnteredValue: { stringValue: 'Name' } },
									],
								},
							],
							fields: 'userEnteredValue,userEnteredFormat.textFormat.bold',
						},
					}),
					'writing a bold header',
				);
				const append = `/${id}/values/${encodeURIComponent('Facts!A:A')}:append`;
				const query = '?valueInputOption=RAW&insertDataOption=INSERT_ROWS';
				ok(await ask('POST', append + query, { values: [['Ann']] }), 'appending');
				const fields = 'sheets.data.rowData.values.userEnteredFormat.textFormat.bold';
				const read = await ask(
					'GET',
					`/${id}?ranges=Facts!A2&includeGridData=true&fields=${fields}`,
				);
				const value =
					'sheets.0.data.0.rowData.0.values.0.userEnteredFormat.textFormat.bold';
				const isBold = at(ok(read, 'reading the format'), value) === true;
				return {
					seen: `The appended row is ${isBold ? '' : 'not '}bold.`,
					isAsClaimed: isBold,
				};
			},
		},
		{
			claim: 'A batch whose last request fails changes nothing.',
			async ask() {
				const before = ok(await values('GET', 'Facts!C1'), 'reading');
				const answer = await batch(
					{
						updateCells: {
							start: { sheetId: 0, rowIndex: 0, columnIndex: 2 },
							rows: [{ values: [{ userEnteredValue: { stringValue: 'half' } }] }],
							fields: 'userEnteredValue',
						},
					},
					{ deleteSheet: { sheetId: 999 } },
				);
				const after = ok(await values('GET', 'Facts!C1'), 'reading');
				const isUnchanged =
					answer.status === 400 && JSON.stringify(before) === JSON.stringify(after);
				return {
					seen: `Google answered ${refusal(answer)}; the cell ${isUnchanged ? 'is as before' : 'was changed'}.`,
					isAsClaimed: isUnchanged,
				};
			},
		},
		{
			claim: 'Is developer metadata with an ID that is already used refused?',
			async ask() {
				ok(await metadata(), 'creating metadata');
				const second = await metadata();
				return {
					seen: `The second time, Google answered ${refusal(second)}.`,
					isAsClaimed: undefined,
				};
			},
		},
		{
			claim: 'A spreadsheet that does not exist is 404 with the status NOT_FOUND.',
			async ask() {
				const answer = await ask('GET', '/live-test-no-such-spreadsheet');
				const status = at(answer.body, 'error.status');
				const isAsClaimed = answer.status === 404 && status === 'NOT_FOUND';
				return { seen: `Google answered ${answer.status} ${String(status)}.`, isAsClaimed };
			},
		},
		{
			claim: 'An Office file is refused as "This operation is not supported for this document" (400).',
			async ask() {
				const mimeType =
					'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
				const file = ok(
					await account.upload(
						{ name: `${prefix} facts.xlsx`, mimeType },
						mimeType,
						'not a real one',
					),
					'uploading a file',
				);
				const fileId = String(at(file, 'id'));
				made.push({
					what: 'a file for facts',
					address: `https://drive.google.com/file/d/${fileId}`,
				});
				const answer = await ask('GET', `/${fileId}`);
				const isAsClaimed =
					answer.status === 400 &&
					refusal(answer).includes('not supported for this document');
				return { seen: `Google answered ${refusal(answer)}.`, isAsClaimed };
			},
		},
	];
}
