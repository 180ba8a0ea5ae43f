import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { asText, Calls } from './calls';
import { paragraph, table } from './elements';

const calls = new Calls();

const itemWith = (json: IDataObject) => testItem({ json });
const filled = { fillFromInput: true, includeBody: false };

const stayed = (names: string) =>
	`These placeholders were not filled: ${names}. Add them to 'replacements', or let 'fillFromInput' find fields with these names in the input item.`;

describe('a template', () => {
	test('whose placeholders nobody filled gives a hint that names them', async () => {
		const templateId = calls.document('Dear {{name}},\nyou owe {{ sum }} by {{date}}.');
		const item = testItem();
		const replacements = [asText('{{date}}', 'Friday')];
		const { documentId } = await calls.create({ templateId, replacements }, item);
		expect(calls.text(documentId)).toBe('Dear {{name}},\nyou owe {{ sum }} by Friday.\n');
		expect(item.hints).toEqual([stayed("'{{name}}', '{{ sum }}'")]);
	});

	test('without placeholders gives none', async () => {
		const item = testItem();
		await calls.create({ templateId: calls.document('{ a } {{}} {{\n}}') }, item);
		expect(item.hints).toEqual([]);
	});

	test('is filled from the input item, together with the replacements, in one request', async () => {
		const lines = ['Dear {{name}} ({{ name }}),', '{{sum}} {{paid}} {{note}}{{missing}} SEAL'];
		const body = lines.map((line) => paragraph(line));
		const templateId = calls.google.docs.seed({
			title: 'Letter',
			tabs: [
				{ title: 'Tab 1', body, headers: { h: [paragraph('{{name}}')] } },
				{ title: 'Second', body: [table([['{{ customer.city }}']])] },
			],
		});
		const city = 'Bonn';
		const item = itemWith({
			name: 'Ann',
			sum: 12.5,
			paid: false,
			note: null,
			customer: { city },
		});
		const params = { ...filled, templateId, replacements: [asText('SEAL', 'Bob')] };
		const made = await calls.create(params, item);
		expect(calls.text(made.documentId)).toBe('Dear Ann (Ann),\n12.5 false {{missing}} Bob\n');
		const { content } = await calls.read(made.documentId);
		expect(content).toContain('Bonn');
		expect(content).toMatch(/^Tab 1\n\nAnn\n/);
		expect(calls.changes(made.documentId)).toBe(1);
		expect(made.replaced).toEqual([
			{ find: 'SEAL', count: 1 },
			{ find: '{{name}}', count: 2 },
			{ find: '{{ name }}', count: 1 },
			{ find: '{{sum}}', count: 1 },
			{ find: '{{paid}}', count: 1 },
			{ find: '{{note}}', count: 1 },
			{ find: '{{ customer.city }}', count: 1 },
		]);
		expect(item.hints).toEqual([stayed("'{{missing}}'")]);
	});

	test.each<[string, string, IDataObject, string]>([
		['a date as text', '{{due}}', { due: new Date(0) }, '1970-01-01T00:00:00.000Z'],
		['nothing for what is no number', '({{sum}})', { sum: NaN }, '()'],
		['fields in lists', '{{rows.0.city}}', { rows: [{ city: 'Bonn' }] }, 'Bonn'],
		['names with dots', '{{to.zip.code}}', { to: { 'zip.code': 53113 } }, '53113'],
		[
			'nothing in what a field brings with it',
			'{{mail}} {{secret}}',
			{ mail: 'say {{secret}}', secret: 'x' },
			'say {{secret}} x',
		],
	])('gets %s', async (_what, text, json, shown) => {
		const params = { ...filled, templateId: calls.document(text) };
		const { documentId } = await calls.create(params, itemWith(json));
		expect(calls.text(documentId)).toBe(`${shown}\n`);
	});

	test('does not take what every object has for a field', async () => {
		const item = itemWith({ a: {} });
		const templateId = calls.document('{{constructor}}{{a.toString}}');
		await calls.create({ ...filled, templateId }, item);
		expect(item.hints).toEqual([stayed("'{{constructor}}', '{{a.toString}}'")]);
	});
});

describe('Write', () => {
	test('fills the document, and keeps everything else', async () => {
		const id = calls.document('Dear {{name}},\n{{sum}}');
		const item = itemWith({ name: 'Ann' });
		const written = await calls.write(id, { fillFromInput: true }, item);
		expect(written).toMatchObject({ replaced: [{ find: '{{name}}', count: 1 }] });
		expect(calls.text(id)).toBe('Dear Ann,\n{{sum}}\n');
		expect(item.hints).toEqual([stayed("'{{sum}}'")]);
	});

	test('fills new content, and looks for nothing in what it replaces', async () => {
		const id = calls.document('{{old}}');
		const item = itemWith({ old: 'x', name: 'Ann' });
		await calls.write(id, { content: 'Hi {{name}}', fillFromInput: true }, item);
		expect(calls.text(id)).toBe('Hi Ann\n');
		expect(item.hints).toEqual([]);
	});

	test('fills the tab that is chosen', async () => {
		const id = calls.withNotes('{{name}}', paragraph('{{name}} {{sum}}'));
		const item = itemWith({ name: 'Ann' });
		await calls.write(id, { fillFromInput: true, tab: 'Notes' }, item);
		expect([calls.text(id), calls.text(id, 't.n')]).toEqual(['{{name}}\n', 'Ann {{sum}}\n']);
		expect(item.hints).toEqual([stayed("'{{sum}}'")]);
	});
});
