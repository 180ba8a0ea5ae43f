import { columnNames } from '../../../../nodes/Workspace/actions/spreadsheet/headerRow';

test('each name is there once', () => {
	const headers = ['a', 'a', '', 'a_2', 'a', 'error', '', 'C'];
	expect(columnNames(headers, 0)).toEqual(['a', 'a_2', 'C', 'a_2_2', 'a_3', 'error_2', 'G', 'C_2']);
});

test('as many equal headers as a sheet has columns get names', () => {
	const headers = Array.from({ length: 18_278 }, () => 'same');
	expect(columnNames(headers, 0).at(-1)).toBe('same_18278');
});
