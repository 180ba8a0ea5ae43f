import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import {
	parseIso,
	parseShown,
	printSerialAsIso,
	toIsoText,
} from '../../../../nodes/Workspace/actions/spreadsheet/dates';
import { testItem } from '../../client';
import { grid, mapped, mappedByName, SheetCalls } from './sheetCalls';

const calls = new SheetCalls();

test.each([
	'2024-02-30',
	'at 2024-01-05T10:30:00.000Z',
	'2024-02-30T10:30:00.000Z',
	'2024-01-05T24:30:00Z',
	'2024-01-05T24:00:00Z',
	'0001-01-01T00:00:00Z',
	'2024-13-05',
	'2024-12-00',
	'26:00',
	'10:30',
	'1/31/2024',
	'31.1.2024',
	'Jan 31, 2024',
	'2024',
	'00123',
	'',
])('%j is no complete date or time in ISO 8601', (text) => {
	expect(parseIso(text, { timeZone: 'Etc/GMT' })).toBeUndefined();
});

test.each<[string, string, string, format?: string]>([
	['2024-01-05', 'Etc/GMT', '2024-01-05T00:00:00.000', 'DATE'],
	['2024-01-05 10:30', 'Etc/GMT', '2024-01-05T10:30:00.000'],
	['2026-11-23T05:46:56.692Z', 'Etc/GMT', '2026-11-23T05:46:56.692'],
	['2026-11-23T05:46:56.692Z', 'Europe/Berlin', '2026-11-23T06:46:56.692'],
	['2026-07-23T05:46:56.692Z', 'Europe/Berlin', '2026-07-23T07:46:56.692'],
	['2026-11-23T05:46:56.692+01:00', 'America/New_York', '2026-11-22T23:46:56.692'],
	['2026-11-23T05:46:56', 'America/New_York', '2026-11-23T05:46:56.000'],
	['2026-11-23T05:46', 'Asia/Kolkata', '2026-11-23T05:46:00.000'],
	['2026-11-23T05:46:56.6921234Z', 'Asia/Kathmandu', '2026-11-23T11:31:56.692'],
	['2024-03-31T00:59:59.999Z', 'Europe/Berlin', '2024-03-31T01:59:59.999'],
	['2024-03-31T01:00:00Z', 'Europe/Berlin', '2024-03-31T03:00:00.000'],
	['2024-10-27T00:30:00Z', 'Europe/Berlin', '2024-10-27T02:30:00.000'],
	['2024-10-27T01:30:00Z', 'Europe/Berlin', '2024-10-27T02:30:00.000'],
	['1890-05-01T12:00:00.250Z', 'Etc/GMT', '1890-05-01T12:00:00.250'],
	['2026-11-23T05:46:56Z', 'GMT-07:00', '2026-11-22T22:46:56.000'],
	['2026-11-28T00:00:00.000+01:00', 'Europe/Berlin', '2026-11-28T00:00:00.000', 'DATE'],
	['2026-11-28T00:00:00', 'America/New_York', '2026-11-28T00:00:00.000', 'DATE'],
	['2026-11-28T00:00:00.000+01:00', 'America/New_York', '2026-11-27T18:00:00.000'],
	['10:30:00', 'Etc/GMT', '1899-12-30T10:30:00.000', 'TIME'],
	['01:30:00', 'Etc/GMT', '1899-12-30T01:30:00.000', 'TIME'],
	['1:30:00', 'Etc/GMT', '1899-12-30T01:30:00.000', 'TIME'],
	['26:30:00', 'Etc/GMT', '1899-12-31T02:30:00.000', 'TIME [h]:mm:ss'],
	['-1:30:00', 'Etc/GMT', '1899-12-29T22:30:00.000', 'TIME [h]:mm:ss'],
	// Of an instant, Node must know the time zone.
	['2026-11-23T05:46:56', 'Mars/Olympus', '2026-11-23T05:46:56.000'],
])('%s in %s is %s on its clocks', (text, timeZone, wall, expected = 'DATE_TIME') => {
	const { serial = NaN, format = {} } = parseIso(text, { timeZone }) ?? {};
	expect(Object.values(format).join(' ')).toBe(expected);
	expect(new Date(Math.round((serial - 25_569) * 86_400_000)).toISOString()).toBe(`${wall}Z`);
});

test('an instant stays text where Node does not know the time zone', () => {
	expect(parseIso('2026-11-23T05:46:56Z', { timeZone: 'Mars/Olympus' })).toBeUndefined();
});

test.each<[string, string, string | undefined]>([
	['1/31/2024', 'en_US', '2024-01-31'],
	['1/31/2024 15:30', 'en_US', '2024-01-31T15:30:00.000+00:00'],
	['31/1/2024', 'en_US', undefined],
	['31/01/2024', 'en_GB', '2024-01-31'],
	['31.1.2024', 'de_DE', '2024-01-31'],
	['31.01.2024, 8:15:07', 'de_DE', '2024-01-31T08:15:07.000+00:00'],
	['31/1/2024', 'de_DE', undefined],
	['31-01-2024', 'de_DE', undefined],
	['31-01-2024', 'nl_NL', '2024-01-31'],
	['2024/1/31', 'ja_JP', '2024-01-31'],
	['2024. 1. 31.', 'ko_KR', '2024-01-31'],
	['2024. 1. 31', 'ko_KR', '2024-01-31'],
	['31.1.2024.', 'de_DE', '2024-01-31'],
	['31.\u00a01.\u00a02024', 'cs_CZ', '2024-01-31'],
	['1/31/2024.', 'en_US', undefined],
	['10:30', 'de_DE', '10:30:00'],
	['25:30', 'de_DE', '25:30:00'],
	['2024-01-05', 'de_DE', '2024-01-05'],
	['1/2', 'en_US', undefined],
	['1/2/24', 'en_US', undefined],
	['1/31/2024//', 'en_US', undefined],
	['2024/31/1', 'en_US', undefined],
	['31/2024/1', 'en_US', undefined],
	['Jan 31, 2024', 'en_US', undefined],
	['1/31/2024', '', '2024-01-31'],
	['1/31/2024', 'not a locale', '2024-01-31'],
	['', 'en_US', undefined],
	['4', 'de_DE', undefined],
])('%j in a column of dates of a sheet in %s is %s', (text, locale, expected) => {
	const cell = parseShown(text, { locale, timeZone: 'Etc/GMT' });
	// Rows may hold the same text.
	expect(cell?.text ?? text).toBe(text);
	expect(cell && printSerialAsIso(cell.serial, cell.format, 'Etc/GMT')).toBe(expected);
});

const berlin = (text: string) => DateTime.fromISO(text, { zone: 'Europe/Berlin' });
test.each<[string, object, string | undefined]>([
	['$today', berlin('2026-11-28'), '2026-11-28'],
	['$now', berlin('2026-11-28T10:30:00'), '2026-11-28T10:30:00.000+01:00'],
	['a Date', new Date('2026-11-28T09:30:00Z'), '2026-11-28T09:30:00.000Z'],
	['a list', ['2026-11-28'], undefined],
	['an object', { iso: '2026-11-28' }, undefined],
])('%s is a date in ISO 8601: %j as %j', (_name, value, expected) => {
	expect(toIsoText(value)).toBe(expected);
});

test.each([
	['de_DE', '31.01.2024'],
	['en_GB', '31/01/2024'],
	['en_US', '1/31/2024'],
])('dates stay when they come back as %s shows them', async (locale, day) => {
	const spreadsheetId = calls.book([{ title: 'Sheet1' }], { locale });
	const all = [
		{ Id: 1, day: '2024-01-31T00:00:00', foreign: day },
		{ Id: 2, day: '2024-01-31', foreign: '1/2' },
	];
	await calls.send('append', { spreadsheetId }, ...all);
	const stored = calls.stored(spreadsheetId).slice(1);
	expect(stored).toEqual(grid([1, 45322, day], [2, 45322, '1/2']));
	const shown = {
		valueRenderOption: 'UNFORMATTED_VALUE',
		dateTimeRenderOption: 'FORMATTED_STRING',
	};
	const rows = await calls.rows({ spreadsheetId, ...shown });
	expect(rows[0]).toMatchObject({ Id: 1, day });
	const [header, ...others] = calls.cells(spreadsheetId, 'A:C');
	const back = rows.map((row) => ({ ...row, foreign: 'new' }));
	await calls.send('write', { spreadsheetId, matchColumns: 'rowNumber' }, ...back);
	const expected = [header, ...others.map(([id, date]) => [id, date, { value: 'new' }])];
	expect(calls.cells(spreadsheetId, 'A:C')).toEqual(expected);
});

test('AUTO stores rows of cells unchanged', async () => {
	const spreadsheetId = calls.sheet();
	const values = [['2024-01-05', 1, '=1']];
	for (const name of ['write', 'append'] as const)
		await calls.one(name, { spreadsheetId, values, valueInputOption: 'AUTO' });
	expect(calls.stored(spreadsheetId)).toEqual([...values, ...values]);
});

describe('the form, where Cell Format is not set', () => {
	const day = '2024-01-05';
	const json = (rows: unknown) => ({ valuesSource: 'json', values: JSON.stringify(rows) });
	const columns = { valuesSource: 'columns' };

	test.each<[IDataObject, number | string, string, number]>([
		[{ ...columns, ...mapped({ Day: day }) }, 45296, 'replace', 1],
		[{ ...columns, ...mapped({ Day: 'other' }) }, 'other', 'replace', 1],
		[{ ...columns, ...mappedByName }, 45296, 'replace', 1],
		[json([{ Day: day }]), day, 'replace', 1],
		[json([[day]]), day, 'overwrite', 0],
	])('%j stores %j', async (rows, stored, writeMode, written) => {
		const appended = calls.sheet([['Day']]);
		await calls.form('append', appended, rows, { Day: day });
		expect(calls.stored(appended).at(1)).toEqual([stored]);
		const replaced = calls.sheet([['Day']]);
		await calls.form('write', replaced, { ...rows, writeMode }, { Day: day });
		expect(calls.stored(replaced).at(written)).toEqual([stored]);
	});
});

describe('a tab that is not there', () => {
	test.each<['append' | 'write', object]>([
		['append', { tab: 'Log' }],
		['append', { range: 'Log!A:B' }],
		['append', { range: 'Log' }],
		['write', { tab: 'Log' }],
		['write', { tab: 'Log', writeMode: 'replace' }],
		['write', { tab: 'Log', matchColumns: 'zip' }],
	])('%s %j makes it', async (name, more) => {
		const given = { spreadsheetId: calls.sheet(), createTab: true, ...more };
		await calls.give(name, given, { zip: 'a' }, { zip: 'b' });
		expect(calls.stored(given.spreadsheetId, 'Log')).toEqual([['zip'], ['a'], ['b']]);
		const bodies = calls.sent.map(({ body }) => JSON.stringify(body ?? {}));
		expect(bodies.filter((body) => body.includes('addSheet'))).toHaveLength(1);
	});

	test('grows for the rows, although the tabs were read before', async () => {
		const spreadsheetId = calls.sheet();
		const item = testItem();
		await calls.one('read', { spreadsheetId, range: 'A1', output: 'values' }, item);
		const values = Array.from({ length: 1500 }, (_, at) => [at]);
		const given = { spreadsheetId, range: 'Log', createTab: true, values };
		await calls.one('write', given, item);
		expect(calls.stored(spreadsheetId, 'Log')).toEqual(values);
	});

	test('two executions at once make one', async () => {
		const given = { spreadsheetId: calls.sheet(), tab: 'Log', createTab: true };
		calls.google.latencyMilliseconds = 5;
		const append = (zip: string) => calls.give('append', given, { zip });
		await Promise.all([append('a'), append('b')]);
		calls.google.latencyMilliseconds = 0;
		expect(calls.stored(given.spreadsheetId, 'Log').flat().sort()).toEqual(['a', 'b', 'zip']);
	});
});

test.each([
	['write', { writeMode: 'overwrite' }],
	['append', {}],
] as const)('as a tool, %s has no input items to take', async (name, more) => {
	const given = { spreadsheetId: 'x', valuesSource: 'columns', ...more };
	const item = testItem({ json: { action: 'x', sessionId: 'y' } });
	const failure = await calls.refusal(name, given, { ...item, isTool: true });
	expect(failure.message).toContain(
		'As a tool for an AI agent, the node has no input items to take rows from',
	);
});
