import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

import {
	parseIso,
	parseShown,
	printSerialAsIso,
	toIsoText,
} from '../../../../nodes/Workspace/actions/spreadsheet/dates';
import { testItem } from '../../client';
import { grid, SheetCalls, tabNamed } from './sheetCalls';

const calls = new SheetCalls();

test.each<[string, boolean]>([
	['2024-01-05', true],
	['2024-01-05 10:30', true],
	['2024-02-30', false],
	['2024-01-05T10:30:00.000Z', true],
	['at 2024-01-05T10:30:00.000Z', false],
	['2024-02-30T10:30:00.000Z', false],
	['2024-01-05T24:30:00Z', false],
	['2024-01-05T24:00:00Z', false],
	['0001-01-01T00:00:00Z', false],
	['2024-13-05', false],
	['2024-12-00', false],
	['26:00:00', true],
	['-1:30:00', true],
	['10:30:00', true],
	['26:00', false],
	['10:30', false],
	['1/31/2024', false],
	['31.1.2024', false],
	['Jan 31, 2024', false],
	['2024', false],
	['00123', false],
	['', false],
])('%j is a complete date or time in ISO 8601: %s', (text, expected) => {
	const settings = { locale: 'en_US', timeZone: 'Etc/GMT' };
	expect(parseIso(text, settings) !== undefined).toBe(expected);
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

test.each([
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
])('%s in %s is %s on its clocks', (text, timeZone, wall) => {
	const { serial, format } = parseIso(text, { timeZone }) ?? {};
	expect(format).toEqual({ type: 'DATE_TIME' });
	expect(new Date(Math.round(((serial ?? NaN) - 25_569) * 86_400_000)).toISOString()).toBe(
		`${wall}Z`,
	);
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
	['2026-11-28T00:00:00.000+01:00', 'Europe/Berlin', 'DATE'],
	['2026-11-28T00:00:00', 'America/New_York', 'DATE'],
	['2026-11-28T00:00:00.000+01:00', 'America/New_York', 'DATE_TIME'],
])('%s is a date where it is a midnight: in %s it is a %s', (text, timeZone, type) => {
	expect(parseIso(text, { timeZone })?.format.type).toBe(type);
});

test('an instant stays text where Node does not know the time zone', () => {
	const settings = { locale: 'de_DE', timeZone: 'Mars/Olympus' };
	expect(parseIso('2026-11-23T05:46:56Z', settings)).toBeUndefined();
	expect(parseIso('2026-11-23T05:46:56', settings)?.format).toEqual({ type: 'DATE_TIME' });
});

const auto = { valueInputOption: 'AUTO' };
const row = {
	zip: '00123',
	phone: '+49 30 1',
	half: '1/2',
	formula: '=1+1',
	town: "'s-Hertogenbosch",
	number: 12.5,
	done: true,
	truth: 'TRUE',
	empty: '',
};
const kept = Object.values(row).slice(0, -1);

describe.each<['append' | 'write', object]>([
	['append', {}],
	['write', { writeMode: 'overwrite' }],
	['write', { writeMode: 'replace' }],
	['write', { writeMode: 'updateOrAdd', matchColumns: 'zip' }],
])('%s %j keeps types', (name, more) => {
	test('of what is no date', async () => {
		const spreadsheetId = calls.sheet();
		await calls.give(name, { spreadsheetId, ...auto, ...more }, row);
		expect(calls.stored(spreadsheetId)[1]).toEqual(kept);
		expect(calls.sent.map(({ query }) => query['fields'])).not.toContain('properties.locale');
	});

	test('beside a date and a time', async () => {
		const spreadsheetId = calls.sheet();
		const times = { day: '1/5/2024', iso: '2024-01-05', time: '12:00:00' };
		const json = { ...row, '1/2/2024': 'header', ...times };
		await calls.give(name, { spreadsheetId, ...auto, ...more }, json);
		const [header, values] = calls.stored(spreadsheetId);
		expect(header).toContain('1/2/2024');
		expect(values).toEqual([...kept, '', 'header', '1/5/2024', 45296, 0.5]);
	});
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
	await calls.give('append', { spreadsheetId, ...auto }, ...all);
	// The locale comes with the header row.
	expect(calls.methods.slice(0, 3)).toEqual(['get', 'values.batchGet', 'batchUpdate']);
	const stored = calls.stored(spreadsheetId).slice(1);
	expect(stored).toEqual(grid([1, 45322, day], [2, 45322, '1/2']));
	const form = {
		valueRenderOption: 'UNFORMATTED_VALUE',
		dateTimeRenderOption: 'FORMATTED_STRING',
	};
	const rows = await calls.rows({ spreadsheetId, ...form });
	expect(rows[0]).toMatchObject({ Id: 1, day });
	const cells = () => calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:C');
	const before = cells();
	const back = rows.map((read) => ({ ...read, foreign: 'new' }));
	await calls.give('write', { spreadsheetId, ...auto, matchColumns: 'rowNumber' }, ...back);
	const isNew = { value: 'new' };
	const [header, ...others] = before;
	expect(cells()).toEqual([header, ...others.map(([id, date]) => [id, date, isNew])]);
});

test('AUTO stores rows of cells unchanged', async () => {
	const spreadsheetId = calls.sheet();
	const values = [['2024-01-05', 1, '=1']];
	for (const name of ['write', 'append'] as const) {
		await calls.one(name, { spreadsheetId, range: 'Sheet1', values, valueInputOption: 'AUTO' });
	}
	expect(calls.stored(spreadsheetId)).toEqual([...values, ...values]);
});

describe('the form, where Cell Format is not set', () => {
	const day = '2024-01-05';
	const json = (rows: unknown) => ({ valuesSource: 'json', values: JSON.stringify(rows) });
	const columns = (mappingMode: string, value: IDataObject | null) => ({
		valuesSource: 'columns',
		columns: { mappingMode, value },
	});

	test.each<[IDataObject, number | string, string, number]>([
		[columns('defineBelow', { Day: day }), 45296, 'replace', 1],
		[columns('defineBelow', { Day: 'other' }), 'other', 'replace', 1],
		[columns('autoMapInputData', null), 45296, 'replace', 1],
		[json([{ Day: day }]), day, 'replace', 1],
		[json([[day]]), day, 'overwrite', 0],
	])('%j stores %j', async (rows, stored, writeMode, written) => {
		for (const [operation, more, at] of [
			['append', {}, 1],
			['write', { writeMode }, written],
		] as const) {
			const id = calls.sheet([['Day']]);
			const fields = { tab: tabNamed('Sheet1'), ...rows, ...more };
			await calls.form(operation, id, fields, { Day: day });
			expect(calls.stored(id, 'Sheet1!A:A').at(at)).toEqual([stored]);
		}
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
		const spreadsheetId = calls.sheet();
		const given = { spreadsheetId, createTab: true, ...more };
		await calls.give(name, given, { zip: 'a' }, { zip: 'b' });
		expect(calls.stored(spreadsheetId, 'Log')).toEqual([['zip'], ['a'], ['b']]);
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
		const spreadsheetId = calls.sheet();
		calls.google.latencyMilliseconds = 5;
		const given = { spreadsheetId, tab: 'Log', createTab: true };
		const append = (zip: string) => calls.give('append', given, { zip });
		await Promise.all([append('a'), append('b')]);
		calls.google.latencyMilliseconds = 0;
		expect(calls.stored(spreadsheetId, 'Log').flat().sort()).toEqual(['a', 'b', 'zip']);
	});
});

test.each([
	['write', { writeMode: 'overwrite' }],
	['append', {}],
] as const)('as a tool, %s has no input items to take', async (name, more) => {
	const given = { spreadsheetId: 'x', tab: 'Sheet1', valuesSource: 'columns', ...more };
	const item = testItem({ json: { action: 'x', sessionId: 'y' } });
	const failure = await calls.refusal(name, given, { ...item, isTool: true });
	expect(failure.message).toContain(
		'As a tool for an AI agent, the node has no input items to take rows from',
	);
});

test.each([
	['10:30:00', 'TIME', 0.4375],
	['01:30:00', 'TIME', 0.0625],
	['1:30:00', 'TIME', 0.0625],
	['26:30:00', '[h]:mm:ss', 26.5 / 24],
	['-1:30:00', '[h]:mm:ss', -0.0625],
])('%s gets the format that shows it again: %s', (text, type, serial) => {
	const cell = parseIso(text, { timeZone: 'Etc/GMT' });
	expect(Object.values(cell?.format ?? {}).at(-1)).toBe(type);
	expect(cell?.serial).toBeCloseTo(serial, 9);
});
