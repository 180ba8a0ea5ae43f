import { list } from '../../../../../nodes/Workspace/actions/mail/list.operation';
import { fieldsOf, type Operation } from '../../../../../nodes/Workspace/operation';
import { paramsOf } from '../../../../../nodes/fields/params';
import { withBinaryData } from '../../../../executeContext';
import { testClients, testItem } from '../../../client';
import { Mails } from '../mails';
import { file, multipart, plain } from '../parts';

const mails = new Mails();
beforeAll(withBinaryData);

const seed = (subject: string, day: number, ...names: string[]) =>
	mails.google.gmail.seed({
		raw: `Subject: ${subject}\r\n${multipart('mixed', plain('own'), ...names.map((name) => file(name))).replaceAll('\n', '\r\n')}`,
		date: new Date(Date.UTC(2026, 0, day)),
	});

describe('a list with the attachments', () => {
	it('gives each email its files', async () => {
		seed('two', 3, 'a.pdf', 'b.pdf');
		seed('none', 2);
		seed('one', 1, 'c.pdf');
		const items = await mails.run('list', {}, { downloadAttachments: true });
		expect(
			items.map(({ json, binary = {} }) => [
				json['subject'],
				Object.entries(binary).map(([field, { fileName, data }]) => [
					field,
					fileName,
					Buffer.from(data, 'base64').toString(),
				]),
			]),
		).toEqual([
			[
				'two',
				[
					['attachment_0', 'a.pdf', 'bytes of a.pdf'],
					['attachment_1', 'b.pdf', 'bytes of b.pdf'],
				],
			],
			['none', []],
			['one', [['attachment_0', 'c.pdf', 'bytes of c.pdf']]],
		]);
		expect(items[0]?.json).toMatchObject({ attachments: [{ fileName: 'a.pdf' }, { fileName: 'b.pdf' }] });
		expect(items[0]?.json).not.toHaveProperty('text');
	});

	it('hands the files of an email to the storage while others are still to come', async () => {
		for (let day = 1; day <= 30; day++) seed('many', day, 'a.pdf');
		const item = testItem();
		const storedAt: number[] = [];
		const store: typeof item.store = async (binary) => {
			storedAt.push(mails.google.requests.length);
			return await testItem().store(binary);
		};
		const clients = testClients(mails.google.url, mails.google.tokens.issue());
		const given = { downloadAttachments: true, maxResults: 30 };
		const params = paramsOf(fieldsOf(list), given, { mode: 'fields', timezone: 'UTC' });
		// As the runner, which knows operations of any fields.
		const operation: Operation = list;
		await operation.execute(clients, params, { ...item, store });
		expect(storedAt).toHaveLength(30);
		// Each mail is two requests, with five mails at once.
		expect(storedAt[0]).toBeLessThan(20);
		expect(storedAt[14]).toBeLessThan(mails.google.requests.length - 10);
	});

	it('goes with the text, by search, in the input object', async () => {
		seed('one', 1, 'c.pdf');
		const [item] = await mails.json({
			...{ operation: 'search', query: 'subject:one', output: 'items' },
			...{ includeBody: true, downloadAttachments: true },
		});
		expect(item?.json).toMatchObject({ text: 'own', attachments: [{ fileName: 'c.pdf' }] });
		expect(Object.keys(item?.binary ?? {})).toEqual(['attachment_0']);
	});

	it.each([
		[
			{ operation: 'list', downloadAttachments: true },
			/downloadAttachments.* cannot be used if 'output' is page/,
		],
		[
			{ operation: 'list', output: 'items', details: false, downloadAttachments: true },
			/downloadAttachments.* needs 'details'/,
		],
	])('refuses %j', async (inputObject, words) => {
		expect(await mails.refused(mails.json(inputObject))).toMatch(words);
	});
});
