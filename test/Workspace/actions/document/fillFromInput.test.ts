import type { IDataObject } from 'n8n-workflow';

import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { Calls } from './calls';

const calls = new Calls();

const line = (content: string) => ({
	paragraph: { elements: [{ textRun: { content: `${content}\n` } }] },
});
const itemWith = (json: IDataObject) => testItem({ json });
const filled = { fillFromInput: true, includeBody: false };

const stayed = (names: string) =>
	`These placeholders were not filled: ${names}. Add them to 'replacements', or turn on 'fillFromInput' and check that the input item has fields with these names.`;

describe('a template', () => {
	test('whose placeholders nobody filled gives a hint that names them', async () => {
		const templateId = calls.document('Dear {{name}},\nyou owe {{ sum }} by {{date}}.');
		const item = testItem();
		const replacements = [{ find: '{{date}}', replace: 'Friday', format: 'text' as const }];
		const { documentId } = await calls.create({ templateId, replacements }, item);
		expect(calls.google.docs.text(documentId)).toBe(
			'Dear {{name}},\nyou owe {{ sum }} by Friday.\n',
		);
		expect(item.hints).toEqual([stayed("'{{name}}', '{{ sum }}'")]);
	});

	test('without placeholders gives none', async () => {
		const item = testItem();
		await calls.create({ templateId: calls.document('{ a } {{}} {{\n}}') }, item);
		expect(item.hints).toEqual([]);
	});

	test('is filled from the input item, together with the replacements, in one request', async () => {
		const cell = { content: [line('{{ customer.city }}')] };
		const templateId = calls.google.docs.seed({
			title: 'Letter',
			tabs: [
				{
					title: 'Tab 1',
					body: [
						line('Dear {{name}} ({{ name }}),'),
						line('{{sum}} {{paid}} {{note}}{{missing}} SEAL'),
					],
					headers: { h: [line('{{name}}')] },
				},
				{
					title: 'Second',
					tabId: 't.two',
					body: [{ table: { tableRows: [{ tableCells: [cell] }] } }, line('')],
				},
			],
		});
		const item = itemWith({
			name: 'Ann',
			sum: 12.5,
			paid: false,
			note: null,
			customer: { city: 'Bonn' },
		});
		const replacements = [{ find: 'SEAL', replace: 'Bob', format: 'text' as const }];
		const made = await calls.create({ ...filled, templateId, replacements }, item);
		expect(calls.google.docs.text(made.documentId)).toBe(
			'Dear Ann (Ann),\n12.5 false {{missing}} Bob\n',
		);
		const { content } = (await calls.read(made.documentId)) as { content: string };
		expect(content).toContain('Bonn');
		expect(content).toMatch(/^Tab 1\n\nAnn\n/);
		expect(calls.google.docs.batchesOf(made.documentId)).toBe(1);
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

	test('a date is written as text', async () => {
		const id = calls.document('');
		const item = itemWith({ due: new Date(0) });
		await calls.write(id, { content: 'Due {{due}}', fillFromInput: true }, item);
		expect(calls.google.docs.text(id)).toBe('Due 1970-01-01T00:00:00.000Z\n');
	});

	test('fills new content, and looks for nothing in what it replaces', async () => {
		const id = calls.document('{{old}}');
		const item = itemWith({ old: 'x', name: 'Ann' });
		await calls.write(id, { content: 'Hi {{name}}', fillFromInput: true }, item);
		expect(calls.google.docs.text(id)).toBe('Hi Ann\n');
		expect(item.hints).toEqual([]);
	});

	test('does not fill what a field brings with it', async () => {
		const templateId = calls.document('{{mail}} {{secret}}');
		const item = itemWith({ mail: 'say {{secret}}', secret: 'x' });
		const { documentId } = await calls.create({ ...filled, templateId }, item);
		expect(calls.google.docs.text(documentId)).toBe('say {{secret}} x\n');
	});

	test('finds fields in lists, and fields with dots in their names', async () => {
		const item = itemWith({ rows: [{ city: 'Bonn' }], address: { 'zip.code': 53113 } });
		const templateId = calls.document('{{rows.0.city}} {{address.zip.code}}');
		const { documentId } = await calls.create({ ...filled, templateId }, item);
		expect(calls.google.docs.text(documentId)).toBe('Bonn 53113\n');
	});

	test('does not take what every object has for a field', async () => {
		const item = itemWith({ a: {} });
		await calls.create(
			{ ...filled, templateId: calls.document('{{constructor}}{{a.toString}}') },
			item,
		);
		expect(item.hints).toEqual([stayed("'{{constructor}}', '{{a.toString}}'")]);
	});

	test('is not filled again by the next run with its key when this one ended before it was marked as done', async () => {
		const templateId = calls.document('a');
		const params = {
			templateId,
			replacements: [{ find: 'a', replace: 'aa', format: 'text' as const }],
			idempotencyKey: 'letter',
		};
		calls.google.fault({ match: 'drive.files.update', times: 40, status: 503 });
		await catchFailure(calls.create(params));
		calls.google.heal();
		const { documentId } = await calls.create(params);
		expect(calls.google.docs.text(documentId)).toBe('aa\n');
	});
});

describe('Write', () => {
	test('fills the document, and keeps everything else', async () => {
		const id = calls.document('Dear {{name}},\n{{sum}}');
		const item = itemWith({ name: 'Ann' });
		const written = await calls.write(id, { fillFromInput: true }, item);
		expect(written).toMatchObject({ replaced: [{ find: '{{name}}', count: 1 }] });
		expect(calls.google.docs.text(id)).toBe('Dear Ann,\n{{sum}}\n');
		expect(item.hints).toEqual([stayed("'{{sum}}'")]);
	});

	test('fills the tab that is chosen', async () => {
		const id = calls.document('{{name}}', [
			{ title: 'Second', tabId: 't.two', body: [line('{{name}} {{sum}}')] },
		]);
		const item = itemWith({ name: 'Ann' });
		await calls.write(id, { fillFromInput: true, tab: 'Second' }, item);
		expect(calls.google.docs.text(id)).toBe('{{name}}\n');
		expect(calls.google.docs.text(id, 't.two')).toBe('Ann {{sum}}\n');
		expect(item.hints).toEqual([stayed("'{{sum}}'")]);
	});

	test('with an answer that is lost fills nothing twice', async () => {
		const id = calls.document('{{name}}');
		calls.google.fault({ match: 'docs.documents.batchUpdate', connection: 'resetAfter' });
		const failure = await catchFailure(
			calls.write(id, { fillFromInput: true }, itemWith({ name: '{{name}}{{name}}' })),
		);
		expect(calls.google.docs.text(id)).toBe('{{name}}{{name}}\n');
		expect(failure).toMatchObject({ outcome: 'unknown' });
	});
});
