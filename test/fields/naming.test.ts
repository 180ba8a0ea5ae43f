import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, INodeType } from 'n8n-workflow';

import type { Field } from '../../nodes/fields/field';
import { RawParameters } from '../../nodes/fields/rawParameters';
import { hasExpression } from '../../nodes/fields/values';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { failureOf, createExecuteContext } from '../createExecuteContext';
import { arrangeForm } from '../Workspace/actions/mail/mails';
import { runNode } from '../Workspace/runNode';
import { googleError, startScriptedServer, type ScriptedServer } from '../Workspace/scriptedServer';

describe('naming', () => {
	let server: ScriptedServer;

	beforeEach(async () => {
		const slowDown = googleError(429, 'Slow down', {}, { 'Retry-After': '1000' });
		server = await startScriptedServer(slowDown);
	});
	afterEach(() => server.close());

	const mail = { to: 'a@x.org', subject: 'S', body: 'B' };
	const book = { spreadsheetId: '1abc', valuesSource: 'json' };
	const rows = { ...book, tab: 'Sheet1' };
	const base64 = { name: 'a', contentSource: 'base64' };
	const noAddress = 'has an entry that is not an email address: x';
	const noType = "is not the MIME type of a file's bytes: pdf";

	/** Fields and options that the operation refuses, and what is told behind the field's name in each mode. */
	test.each<[string, IDataObject, names: [inForm: string, inObject: string], told: string]>([
		['mail send', { ...mail, options: { cc: 'x' } }, ['CC', 'cc'], noAddress],
		['mail send', { ...mail, subject: 'a\nb' }, ['Subject', 'subject'], 'contains a line'],
		[
			'mail send',
			{ ...mail, options: { senderName: 'a\rb' } },
			['Sender Name', 'senderName'],
			'contains a line',
		],
		['spreadsheet write', { ...rows, values: [['a'], {}] }, ['Values', 'values'], 'mixes'],
		['spreadsheet append', { ...rows, values: [] }, ['Values', 'values'], 'has no cells'],
		[
			'spreadsheet read',
			{ spreadsheetId: '1abc', options: { range: "'A'!?" } },
			['Range', 'range'],
			'is not a range: ?',
		],
		[
			'spreadsheet append',
			{ ...book, values: [[1]] },
			["Tab' or 'Range", "tab' or 'range"],
			'is required',
		],
		['document append', { documentId: '1abc' }, ['Content', 'content'], 'is required'],
		['file upload', { ...base64, content: 'Y#' }, ['Content', 'content'], 'is not base64 text'],
		[
			'file upload',
			{ ...base64, content: 'YQ==', mimeType: 'pdf' },
			['MIME Type', 'mimeType'],
			noType,
		],
	])('%s %j', async (name, given, [inForm, inObject], told) => {
		const [resource, operation] = name.split(' ');
		const parameters = { resource, operation, options: {}, ...given };
		const form = await run(resource === 'mail' ? arrangeForm(parameters) : parameters);
		expect(form.message).toContain(`'${inForm}' ${told}`);
		const { options, ...fields } = parameters;
		const object = await run({ inputMode: 'json', inputObject: { ...fields, ...options } });
		expect(object.message).toContain(`'${inObject}' ${told}`);
		expect(server.received).toEqual([]);
	});

	const run = (parameters: IDataObject) => failureOf(runNode({ url: server.url, parameters }));

	test.each([
		['send', { to: 'a@x.org', subject: 'S' }, 'body'],
		['append', { spreadsheetId: '1abc', range: 'A1' }, 'values'],
		['write', { spreadsheetId: '1abc', range: 'A1', values: null }, 'values'],
		['append', { documentId: '1abc' }, 'content'],
		['write', { documentId: '1abc' }, 'content'],
		['upload', { name: 'a.txt' }, 'content'],
		['upload', { name: 'a.txt', binaryPropertyName: 'data' }, 'content'],
	])('a key that is missing is named: %s %j', async (operation, given, key) => {
		const failure = await run({ inputMode: 'json', inputObject: { operation, ...given } });
		expect(failure.message).toBe(`'${key}' is required`);
		expect(failure.description).toBe(
			'The input object does not have this key, or its value is null. Add it.',
		);
		expect(server.received).toEqual([]);
	});

	test('what to do about an answer names the option as "Add option" or the input object has it', async () => {
		const form = await run({ resource: 'mail', operation: 'read', messageId: 'a1' });
		expect(form.description).toContain("'Time Limits: Max Retry Wait (Seconds)' allows 120");
		const inputObject = { operation: 'read', messageId: 'a1' };
		const object = await run({ inputMode: 'json', inputObject });
		expect(object.description).toContain("'maxRetryWaitSeconds' allows 120");
	});
});

const nodeType: INodeType = new Workspace();

function contextOf(parameters: IDataObject, items: INodeExecutionData[], type = 'test.node') {
	return createExecuteContext({ nodeType, parameters, items, node: { type } });
}

function outcome(act: () => unknown): unknown {
	try {
		return { value: act() };
	} catch (error) {
		return { thrown: String(error) };
	}
}

const deep = {
	...{ list: [[1, 'a'], [null]], 'b c': { d: 'e' }, text: '={{ 1 }}' },
	...{ zero: 0, no: false, empty: '', nothing: null, nan: NaN },
};
const items = [{ json: deep }, { json: { list: 'other', zero: 7 } }];

test.each([
	'constant',
	'={{ $json }}',
	'={{ $json.list }}',
	'={{$json.list}}',
	'={{ $json["b c"].d }}',
	"={{ $json['b c']['d'] }}",
	'={{ $json.zero }}',
	'={{ $json.no }}',
	'={{ $json.empty }}',
	'={{ $json.text }}',
	'={{ $json.missing }}',
	'={{ $json.list.length }}',
	'={{ $json.zero + 1 }}',
	'= {{ $json.zero }}',
	'=text {{ $json.zero }}',
	'={{ $json.zero }} text',
	'={{ $json.zero }}{{ $json.zero }}',
	'=a {{ $json.no }}, {{ $json["b c"].d }} {{$json.empty}}{{ $json.zero }}.',
	'=line\n{{ $json.text }}\n',
	'=a {{ $json.list }}',
	'=a {{ $json.nan }}',
	'=a {{ $json }}',
	'=a {{ $json.missing }}',
	'=a {{ $json.nothing }}',
	'={{ $json.nothing }}',
	'=a {{ $json.zero }} {{ $json.zero + 1 }}',
	'={ {{ $json.text }} }',
	'={{{ $json.text }}}',
	'=a\\ {{ $json.text }}',
	'=\\{{ $json.text }}',
	'={{ $json.constructor.name }}',
	'={{ $itemIndex }}',
])('%s is what n8n gives', (task) => {
	const parameters = {
		subject: task,
		columns: { value: { [task]: task, b: 'b' }, schema: [{ id: task.slice(1) }] },
		options: { cc: task, nested: [{ value: task }] },
	};
	const read = new RawParameters(contextOf(parameters, items));
	const n8n = contextOf(parameters, items);
	for (const index of [0, 1, 0]) {
		for (const name of ['subject', 'columns', 'options']) {
			const expected = outcome(() => n8n.getNodeParameter(name, index, null));
			expect(outcome(() => read.read(name, index, null))).toEqual(expected);
		}
	}
});

test('any text is what n8n gives', () => {
	const json = { a: 'text {{ 1 }} \\ $& $1', 'b c': { d: 'é' }, n: -0.5, no: false, o: { x: 1 } };
	const fields = ['{{ $json.a }}', '{{$json["b c"].d}}', '{{\n$json.n }}', '{{ $json.no }}'];
	const others = ['{{ $json.o }}', '{{ $json.n + 1 }}', '{', '}', '\\', '${a}', '{{ }}'];
	const known = fc.constantFrom(...fields, ...others);
	const pieces = fc.array(fc.oneof(known, fc.string({ maxLength: 4 })), { maxLength: 5 });
	const property = fc.property(pieces, (texts) => {
		const context = contextOf({ subject: `=${texts.join('')}` }, [{ json }]);
		const expected = outcome(() => context.getNodeParameter('subject', 0, null));
		const read = new RawParameters(context);
		expect(outcome(() => read.read('subject', 0, null))).toEqual(expected);
	});
	fc.assert(property, { numRuns: 300 });
});

test('a parameter that is not there is its fallback', () => {
	const read = new RawParameters(contextOf({}, items));
	expect(read.read('nothing', 1, null)).toBeNull();
});

test('rows of an item are taken as they are, without a copy', () => {
	const rows = [['a']];
	const operation = { resource: 'spreadsheet', operation: 'append', valuesSource: 'json' };
	const parameters = { ...operation, values: '={{ $json.rows }}' };
	const read = new RawParameters(contextOf(parameters, [{ json: { rows } }]));
	expect(read.read('values', 0, null)).toBe(rows);
});

test('what does not depend on the item is asked once, for the first item', () => {
	const context = contextOf({ subject: 'constant' }, items);
	const asked = jest.spyOn(context, 'getNodeParameter');
	const read = new RawParameters(context);
	for (let index = 0; index < 1000; index++) read.read('subject', index, 'none');
	expect(asked.mock.calls).toEqual([['subject', 0, 'none', { rawExpressions: true }]]);
});

test.each([
	['={{ $json.list }}', deep.list],
	['={{$json["b c"]}}', deep['b c']],
	["={{ $json['b c'].d }}", 'e'],
	['={{ $json["b c"]["d"] }}', 'e'],
	['={{ $json.zero }}', 0],
	['={{ $json.empty }}', ''],
	['=Hi {{ $json["b c"].d }}: {{ $json.zero }}', 'Hi e: 0'],
])('%s is taken from the item without asking n8n', (subject, value) => {
	const context = contextOf({ subject }, items);
	const asked = jest.spyOn(context, 'getNodeParameter');
	expect(new RawParameters(context).read('subject', 0, null)).toBe(value);
	expect(asked).toHaveBeenCalledTimes(1);
});

test.each([
	['is not there', { other: 1 }],
	['is in what is no object', 'text'],
	['is inherited', Object.create({ day: 1 }) as object],
	['is in what is not plain data', Object.assign(new Error('no'), { day: 1 })],
	['is not plain data', { day: new Date(0) }],
])('n8n is asked for a field that %s', (_what, when) => {
	const context = contextOf({ subject: '={{ $json.when.day }}' }, [{ json: { when } }]);
	const asked = jest.spyOn(context, 'getNodeParameter');
	new RawParameters(context).read('subject', 0, null);
	expect(asked).toHaveBeenLastCalledWith('subject', 0, null);
});

test('an object without a prototype is plain data', () => {
	const when = Object.assign(Object.create(null) as IDataObject, { day: [1] });
	const context = contextOf({ subject: '={{ $json.when.day }}' }, [{ json: { when } }]);
	const read = new RawParameters(context);
	expect(read.read('subject', 0, null)).toBe(when['day']);
});

test.each<[saved: unknown, found: unknown]>([
	['Ann', 'Ann'],
	['={{ $now }}', '={{ $now }}'],
	[undefined, ''],
	["={{ $fromAI('Subject') }}", undefined],
])('of a field that is saved as %j, a user saved %j', (subject, found) => {
	const read = new RawParameters(contextOf({ subject } as IDataObject, items));
	const field: Field = { displayName: 'Subject', name: 'subject', type: 'string', default: '' };
	expect(read.findSavedValue(field)).toEqual(found);
});

test.each<[unknown, isExpression: boolean]>([
	['Ann', false],
	[undefined, false],
	['={{ $now }}', true],
	[['={{ $json.zero }}'], true],
])('a value that is %j', (value, isExpression) => {
	expect(hasExpression(value)).toBe(isExpression);
});

test('expressions of a tool see other items than its input: they are n8n’s', () => {
	const context = contextOf({ subject: '={{ $json.zero }}' }, items, 'test.workspaceTool');
	const asked = jest.spyOn(context, 'getNodeParameter');
	expect(new RawParameters(context).read('subject', 1, null)).toBe(7);
	expect(asked).toHaveBeenLastCalledWith('subject', 1, null);
});

describe('what was given for several fields', () => {
	const fields = [{ name: 'subject' }, { name: 'body' }] as unknown as readonly Field[];
	const options = [{ name: 'cc' }] as unknown as readonly Field[];

	const plain = { subject: 'Hi', body: 'Text', options: { cc: 'Ann' } };
	const ofItem = '={{ $json.zero }}';

	test.each<[string, IDataObject]>([
		['body', { ...plain, body: ofItem }],
		['cc', { ...plain, options: { cc: ofItem } }],
	])('differs from item to item if %s depends on the item', (name, parameters) => {
		const read = new RawParameters(contextOf(parameters, items));
		const common = { subject: 'Hi', body: 'Text', cc: 'Ann' };
		const found = [0, 1].map((index) => read.readFields(fields, options, index));
		expect(found).toEqual([
			{ ...common, [name]: 0 },
			{ ...common, [name]: 7 },
		]);
	});

	test('is one object for all items if nothing depends on the item', () => {
		const read = new RawParameters(contextOf(plain, items));
		const given = { subject: 'Hi', body: 'Text', cc: 'Ann' };
		expect(read.readFields(fields, options, 0)).toEqual(given);
		expect(read.readFields(fields, options, 1)).toBe(read.readFields(fields, options, 0));
	});
});
