import { DateTime } from 'luxon';

import {
	parseIso,
	parseShown,
	printDate,
	toIsoText,
} from '../../../../nodes/Workspace/actions/spreadsheet/dates';
import { runNode, token } from '../../runNode';
import { items, SheetCalls } from './sheetCalls';

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
	expect(cell && printDate(cell.serial, cell.format, 'Etc/GMT')).toBe(expected);
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

describe.each<[string, object]>([
	['append', {}],
	['write', { writeMode: 'overwrite' }],
	['write', { writeMode: 'replace' }],
	['write', { writeMode: 'updateOrAdd', matchColumns: 'zip' }],
])('%s %j keeps types', (name, more) => {
	const send = async (spreadsheetId: string, json: object) => {
		const params = {
			spreadsheetId,
			tab: 'Sheet1',
			valuesSource: 'columns',
			valueInputOption: 'AUTO',
			...more,
		};
		await calls.give(name as 'write', params, json as never);
	};

	test('of what is no date', async () => {
		const spreadsheetId = calls.sheet();
		await send(spreadsheetId, row);
		expect(calls.stored(spreadsheetId)[1]).toEqual(kept);
		expect(calls.sent.filter(({ query }) => query['fields'] === 'properties.locale')).toEqual(
			[],
		);
	});

	test('beside a date and a time', async () => {
		const spreadsheetId = calls.sheet();
		await send(spreadsheetId, {
			...row,
			'1/2/2024': 'header',
			day: '1/5/2024',
			iso: '2024-01-05',
			time: '12:00:00',
		});
		const [header, values] = calls.stored(spreadsheetId);
		expect(header).toContain('1/2/2024');
		expect(values).toEqual([...kept, '', 'header', '1/5/2024', 45296, 0.5]);
	});
});

test.each([
	['de_DE', '31.01.2024'],
	['en_GB', '31/01/2024'],
	['en_US', '1/31/2024'],
])(
	'dates go in, are shown as %s writes them, and stay when they come back so',
	async (locale, day) => {
		const spreadsheetId = calls.book([{ title: 'Sheet1' }], { locale });
		const params = {
			spreadsheetId,
			tab: 'Sheet1',
			valuesSource: 'columns',
			valueInputOption: 'AUTO',
		};
		const all = items(
			{ Id: 1, day: '2024-01-31T00:00:00', foreign: day },
			{ Id: 2, day: '2024-01-31', foreign: '1/2' },
		);
		await calls.together(
			'append',
			all.map((item) => ({ params, item })),
		);
		// The locale comes with the header row.
		expect(calls.methods.slice(0, 3)).toEqual(['get', 'values.batchGet', 'batchUpdate']);
		expect(calls.stored(spreadsheetId).slice(1)).toEqual([
			[1, 45322, day],
			[2, 45322, '1/2'],
		]);
		const form = {
			output: 'rows',
			valueRenderOption: 'UNFORMATTED_VALUE',
			dateTimeRenderOption: 'FORMATTED_STRING',
		};
		const rows = await calls.run('read', { spreadsheetId, ...form });
		expect(rows[0]?.json).toMatchObject({ Id: 1, day });
		const before = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:C');
		const back = items(...rows.map(({ json }) => ({ ...json, foreign: 'new' })));
		await calls.together(
			'write',
			back.map((item) => ({ params: { ...params, matchColumns: 'rowNumber' }, item })),
		);
		const after = calls.google.sheets.cells(spreadsheetId, 'Sheet1!A:C');
		expect(after.map(([, cell]) => cell)).toEqual(before.map(([, cell]) => cell));
		expect(after.slice(1).map(([, , cell]) => cell)).toEqual([
			{ value: 'new' },
			{ value: 'new' },
		]);
	},
);

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

	test.each([
		['columns', { columns: { mappingMode: 'defineBelow', value: { Day: day } } }, 45296],
		['columns', { columns: { mappingMode: 'defineBelow', value: { Day: 'other' } } }, 'other'],
		['columns', { columns: { mappingMode: 'autoMapInputData', value: null } }, 45296],
		['json', { values: JSON.stringify([{ Day: day }]) }, day],
		['json', { values: JSON.stringify([[day]]) }, day],
	])('%s %j', async (valuesSource, more, stored) => {
		calls.google.tokens.issue({ token });
		for (const operation of ['append', 'write']) {
			const value = calls.sheet([['Day']]);
			const target = {
				spreadsheetId: { __rl: true, mode: 'id', value },
				tab: { __rl: true, mode: 'name', value: 'Sheet1' },
			};
			const isUnnamed =
				operation === 'write' && 'values' in more && more.values.startsWith('[[');
			const rows = {
				valuesSource,
				...more,
				...(operation === 'write' && { writeMode: isUnnamed ? 'overwrite' : 'replace' }),
			};
			const parameters = { resource: 'spreadsheet', operation, ...target, ...rows };
			await runNode({ url: calls.google.url, parameters, items: [{ json: { Day: day } }] });
			expect(calls.stored(value, 'Sheet1!A:A').at(isUnnamed ? 0 : 1)).toEqual([stored]);
		}
	});
});

describe('a tab that is not there', () => {
	test.each<[string, object]>([
		['append', { tab: 'Log' }],
		['append', { range: 'Log!A:B' }],
		['append', { range: 'Log' }],
		['write', { tab: 'Log' }],
		['write', { tab: 'Log', writeMode: 'replace' }],
		['write', { tab: 'Log', matchColumns: 'zip' }],
	])('%s %j makes it', async (name, more) => {
		const spreadsheetId = calls.sheet();
		const params = { spreadsheetId, valuesSource: 'columns', createTab: true, ...more };
		const all = items({ zip: 'a' }, { zip: 'b' }).map((item) => ({ params, item }));
		await calls.together(name as 'write', all);
		expect(calls.stored(spreadsheetId, 'Log')).toEqual([['zip'], ['a'], ['b']]);
		expect(
			calls.sent.filter(({ body }) => JSON.stringify(body ?? {}).includes('addSheet')),
		).toHaveLength(1);
	});

	test('two executions at once make one', async () => {
		const spreadsheetId = calls.sheet();
		calls.google.latencyMilliseconds = 5;
		const one = (zip: string) =>
			calls.one(
				'append',
				{ spreadsheetId, tab: 'Log', valuesSource: 'columns', createTab: true },
				items({ zip })[0],
			);
		await Promise.all([one('a'), one('b')]);
		calls.google.latencyMilliseconds = 0;
		expect(calls.stored(spreadsheetId, 'Log').flat().sort()).toEqual(['a', 'b', 'zip']);
	});
});

test.each(['write', 'append'] as const)(
	'as a tool, %s has no input items to take',
	async (name) => {
		const given = {
			spreadsheetId: 'x',
			tab: 'Sheet1',
			valuesSource: 'columns',
			writeMode: 'overwrite',
		};
		const [item] = items({ action: 'x', sessionId: 'y' });
		const call = calls.one(
			name,
			name === 'write' ? given : { ...given, writeMode: undefined },
			{ ...item, isTool: true } as never,
		);
		await expect(call).rejects.toThrow(
			'As a tool for an AI agent, the node has no input items to take rows from',
		);
		expect(calls.sent).toEqual([]);
	},
);

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
