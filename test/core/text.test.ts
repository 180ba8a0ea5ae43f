import { shorten, suggestNames } from '../../nodes/core/text';

test.each([
	['what fits is whole', 'abc', 'abc'],
	['what is longer ends with …', 'abcd', 'abc…'],
	['a pair is not cut in half', 'ab😀d', 'ab…'],
	['a whole pair stays', 'a😀d', 'a😀…'],
])('%s', (_what, text, expected) => {
	expect(shorten(text, 3)).toBe(expected);
});

test.each([
	['case and blanks', 'NEW  ORDERS', "Did you mean 'New orders'? "],
	['a letter too many', 'Taskss', "Did you mean 'Tasks'? "],
	['a letter too few', 'Taks', "Did you mean 'Tasks'? "],
	['two letters swapped', 'Tsaks', "Did you mean 'Tasks'? "],
	['the end alone', 'orders', ''],
	['other words', 'Invoices', ''],
	['three other letters', 'Tabby', ''],
	['hardly any letters', 'T', ''],
])('names that may be meant: %s', (_what, missing, question) => {
	expect(suggestNames(['Tasks', 'New orders', 'Q'], [missing])).toBe(question);
});

test.each([
	['each', ['Taks', 'New order'], "Did you mean 'Tasks', 'New orders'? "],
	['not one of them', ['Taks', 'Street'], ''],
	['foreign ones', ['a', 'b', 'c', 'd', 'e', 'Taks'], ''],
	['none', [], ''],
])(
	'several missing names are asked for only if a name is like each: %s',
	(_what, missing, question) => {
		expect(suggestNames(['Tasks', 'New orders', 'Q'], missing)).toBe(question);
	},
);
