import type { GoogleAccount } from '../googleAccount.ts';
import type { Made } from '../steps.ts';
import { askFor, at, isRefused, ok, refusal, type Question } from './reading.ts';

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
	const address = `https://docs.google.com/spreadsheets/d/${id}`;
	made.push({ what: 'a spreadsheet for facts', address });
	const valuesPath = (range: string) => `/${id}/values/${encodeURIComponent(range)}`;
	const read = (range: string) => ask('GET', valuesPath(range));
	const write = (range: string, values: unknown[][]) =>
		ask('PUT', `${valuesPath(range)}?valueInputOption=RAW`, { values });
	const batch = (...requests: object[]) => ask('POST', `/${id}:batchUpdate`, { requests });
	const writeCell = (columnIndex: number, text: string, format: object = {}) => ({
		updateCells: {
			start: { sheetId: 0, rowIndex: 0, columnIndex },
			rows: [{ values: [{ ...format, userEnteredValue: { stringValue: text } }] }],
			fields: ['userEnteredValue', ...Object.keys(format)].join(),
		},
	});
	const developerMetadata = {
		metadataId: 4711,
		metadataKey: 'live-test',
		metadataValue: '1',
		visibility: 'DOCUMENT',
		location: { spreadsheet: true },
	};
	const createMetadata = () => batch({ createDeveloperMetadata: { developerMetadata } });
	return [
		{
			claim: 'An unquoted Q1 is a cell even if a tab has that name.',
			async ask() {
				const range = String(at(ok(await read('Q1'), 'reading Q1'), 'range'));
				const isCell = /^'?Facts'?!Q1(:Q1)?$/.test(range);
				return { seen: `Google read ${range}.`, isAsClaimed: isCell };
			},
		},
		{
			claim: 'A quoted Q1 is the tab of that name.',
			async ask() {
				const range = String(at(ok(await read("'Q1'"), 'reading Q1'), 'range'));
				return { seen: `Google read ${range}.`, isAsClaimed: /^'?Q1'?!/.test(range) };
			},
		},
		askFor(
			'A write that starts past the grid is refused with 400.',
			() => write(`Facts!A${rowCount + 10}`, [['x']]),
			isRefused,
		),
		askFor('Does a write that starts inside the grid and ends past it extend the grid?', () =>
			write(`'Q1'!A${rowCount - 1}`, [['row 0'], ['row 1'], ['row 2']]),
		),
		{
			claim: 'Appended rows inherit the format of the row above.',
			async ask() {
				const bold = { userEnteredFormat: { textFormat: { bold: true } } };
				ok(await batch(writeCell(0, 'Name', bold)), 'writing a bold header');
				const append = `${valuesPath('Facts!A:A')}:append`;
				const insert = '?valueInputOption=RAW&insertDataOption=INSERT_ROWS';
				ok(await ask('POST', append + insert, { values: [['Ann']] }), 'appending');
				const fields = 'sheets.data.rowData.values.userEnteredFormat.textFormat.bold';
				const query = `?ranges=Facts!A2&includeGridData=true&fields=${fields}`;
				const format = ok(await ask('GET', `/${id}${query}`), 'reading the format');
				const place =
					'sheets.0.data.0.rowData.0.values.0.userEnteredFormat.textFormat.bold';
				const isAsClaimed = at(format, place) === true;
				return {
					seen: `The appended row is ${isAsClaimed ? '' : 'not '}bold.`,
					isAsClaimed,
				};
			},
		},
		{
			claim: 'A batch whose last request fails changes nothing.',
			async ask() {
				const readCell = async () => JSON.stringify(ok(await read('Facts!C1'), 'reading'));
				const before = await readCell();
				const answer = await batch(writeCell(2, 'half'), { deleteSheet: { sheetId: 999 } });
				const isAsClaimed = isRefused(answer) && before === (await readCell());
				const seen = `Google answered ${refusal(answer)}; the cell ${isAsClaimed ? 'is as before' : 'was changed'}.`;
				return { seen, isAsClaimed };
			},
		},
		askFor('Is developer metadata with an ID that is already used refused?', async () => {
			ok(await createMetadata(), 'creating metadata');
			return await createMetadata();
		}),
		{
			claim: 'A spreadsheet that does not exist is 404 with the status NOT_FOUND.',
			async ask() {
				const answer = await ask('GET', '/live-test-no-such-spreadsheet');
				const status = at(answer.body, 'error.status');
				const isAsClaimed = answer.status === 404 && status === 'NOT_FOUND';
				return { seen: `Google answered ${answer.status} ${String(status)}.`, isAsClaimed };
			},
		},
		askFor(
			'An Office file is refused as "This operation is not supported for this document" (400).',
			async () => {
				const metadata = { name: `${prefix} facts.xlsx`, mimeType: officeType };
				const uploaded = await account.upload(metadata, officeType, 'not a real one');
				const fileId = String(at(ok(uploaded, 'uploading a file'), 'id'));
				const fileAddress = `https://drive.google.com/file/d/${fileId}`;
				made.push({ what: 'a file for facts', address: fileAddress });
				return await ask('GET', `/${fileId}`);
			},
			(answer) =>
				isRefused(answer) && refusal(answer).includes('not supported for this document'),
		),
	];
}

const officeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
