import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import example from '../../../../examples/attachments-to-drive.json';
import type { UploadParams } from '../../../../nodes/Workspace/actions/file/fields';
import { failureOf } from '../../../createExecuteContext';
import { testItem } from '../../client';
import { catchFailure } from '../../catchFailure';
import { runNode, token } from '../../runNode';
import { base64, md5, Uploads } from './uploads';

const uploads = new Uploads();

describe('media type', () => {
	const typed = async (params: Partial<UploadParams>) =>
		(await uploads.upload('x', params)).mimeType;

	test.each([
		['a.pdf', '', 'application/pdf'],
		['a.docx', '', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
		['a.unknown-ending', '', 'application/octet-stream'],
		['README', '', 'application/octet-stream'],
		['a.pdf', ' text/x-own ', 'text/x-own'],
		['a', 'text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
		['a', 'text/plain ;charset=utf-8', 'text/plain ;charset=utf-8'],
	])('%s given as "%s"', async (name, mimeType, expected) => {
		expect(await typed({ name, mimeType })).toBe(expected);
	});

	test.each([
		'pdf',
		'text/plain\r\nX-Injected: 1',
		'text/plain\r\n; charset=utf-8',
		'text/plain\u2028;',
		'application/vnd.google-apps.document',
	])('%j is refused before any request', async (mimeType) => {
		expect((await catchFailure(typed({ mimeType }))).code).toBe(400);
		expect(uploads.google.requests).toEqual([]);
	});

	test('a binary field of another type than a media type goes up as bytes', async () => {
		const data = { data: Buffer.from('x'), mimeType: 'text/plain\r\nX-Injected: 1' };
		const item = testItem({ binary: { data } });
		const result = await uploads.run({ contentSource: 'binary', name: 'a' }, item);
		expect(result.mimeType).toBe('application/octet-stream');
	});
});

describe('content', () => {
	test.each([
		...['Y#', 'Y', 'data:text/plain;base64,eA==', 'Hello world', 'Helloworld', 'eA='],
		...['eB==', 'eA== eA==', 'eA==eA==', '+/8_', 'e A=='],
	])('base64 "%s" is refused before any request', async (content) => {
		const failure = await catchFailure(uploads.run({ content }));
		expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
		expect(failure.message).not.toContain(content);
		expect(uploads.google.requests).toEqual([]);
	});

	test.each([
		...['eA', 'eA==', 'e\r\nA \n==', ' eA== \n'].map((content) => [content, 'x'] as const),
		['_-8', Buffer.from([0xff, 0xef])] as const,
	])('base64 "%s"', async (content, bytes) => {
		expect(await uploads.run({ content })).toMatchObject({ md5Checksum: md5(bytes) });
	});

	test.each([
		['a', 'Grüße 😀\n', 'text/plain; charset=utf-8'],
		['a.csv', 'a,b', 'text/csv'],
	])('a text named %s goes up as it is, in UTF-8', async (name, content, mimeType) => {
		const result = await uploads.run({ contentSource: 'text', content, name });
		expect(result).toMatchObject({ md5Checksum: md5(content), mimeType });
	});

	test('without a name a binary file keeps its own', async () => {
		const data = { data: Buffer.from('x'), fileName: 'photo.png', mimeType: 'image/x-own' };
		const item = testItem({ binary: { data } });
		const result = await uploads.run({ contentSource: 'binary', name: '' }, item);
		expect(result).toMatchObject({ name: 'photo.png', mimeType: 'image/png' });
	});

	test('a text without a name is refused before any request', async () => {
		const text = { contentSource: 'text', content: 'x', name: '' } as const;
		const failure = await catchFailure(uploads.run(text));
		const description = 'Enter a name. Only a binary file or an attachment can have its own.';
		expect(failure).toMatchObject({ code: 400, description });
		expect(uploads.google.requests).toEqual([]);
	});
});

describe('in n8n', () => {
	const readable = tmpdir();
	// n8n reads it with its first look at a file.
	process.env.N8N_RESTRICT_FILE_ACCESS_TO = readable;

	beforeEach(() => {
		uploads.google.tokens.issue({ token });
	});

	const googleDocument = 'application/vnd.google-apps.document';

	/** A binary field of an item. */
	const file = (text: string, fileName?: string, mimeType = 'text/plain') => ({
		...{ data: base64(text), mimeType },
		...(fileName && { fileName }),
	});
	const itemOf = (binary: INodeExecutionData['binary']) => ({ json: {}, binary });
	const photo = itemOf({ photo: file('a photo', 'p.own', 'image/x-own') });

	const form = async (given: IDataObject, items: INodeExecutionData[] = [{ json: {} }]) => {
		const parameters = { resource: 'file', operation: 'upload', ...given };
		return await runNode({ url: uploads.google.url, items, parameters });
	};

	async function object(
		given: IDataObject,
		items?: INodeExecutionData[],
		allowFilePaths = false,
	) {
		const inputObject = JSON.stringify({ operation: 'upload', ...given });
		const parameters = { inputMode: 'json', inputObject, allowFilePaths };
		return await runNode({ url: uploads.google.url, parameters, items });
	}

	const namesOf = (items: INodeExecutionData[]) => items.map(({ json }) => json['name']);
	const checksumsOf = (items: INodeExecutionData[]) =>
		items.map(({ json }) => json['md5Checksum']);

	test.each([
		['Spend', 'a,b', 'text/csv'],
		['Guests', 'name,note\nAnn,"a\tb"', 'text/csv'],
		['a.txt', 'a\tb', 'text/tab-separated-values'],
		['a.txt', '\n\na\tb', 'text/tab-separated-values'],
		['a.tsv', 'a,b', 'text/tab-separated-values'],
	])('text named %s becomes a spreadsheet: %j is sent as %s', async (name, content, type) => {
		const given = { name, contentSource: 'text', content };
		await form({ ...given, options: { convertTo: 'spreadsheet' } });
		const start = uploads.google.requests.find(({ method }) => method === 'drive.files.create');
		expect(start?.headers['x-upload-content-type']).toBe(type);
	});

	test.each([
		['a file without a name is named after its field', 'text/plain', 'my_file.txt'],
		['the type of a Google file is not that of its bytes', googleDocument, 'my_file.bin'],
	])('%s', async (_what, mimeType, name) => {
		const [item] = await form({}, [itemOf({ my_file: file('x', undefined, mimeType) })]);
		expect(item?.json).toMatchObject({ name });
		expect(item?.json['mimeType']).not.toBe(googleDocument);
	});

	test.each([
		['*.pdf, invoice*', ['a.PDF', 'Invoice 7.doc', 'scan.pdf']],
		['pdf, DOC', ['a.PDF', 'Invoice 7.doc', 'scan.pdf']],
		['.pdf', ['a.PDF', 'scan.pdf']],
		['logo*.png', ['logo.png']],
		['readme', ['README']],
		['.tar.gz', ['logs.tar.gz']],
	])('only the files whose names fit %j are uploaded', async (onlyFiles, names) => {
		const named = ['a.PDF', 'logo.png', 'Invoice 7.doc', 'README', 'logs.tar.gz'].map(
			(name, at) => [`file_${at}`, file('x', name, 'a/b')] as const,
		);
		// A file without a name has that of its field and type.
		const scan = { ...file('x', undefined, 'application/pdf'), fileExtension: 'pdf' };
		const item = itemOf({ ...Object.fromEntries(named), scan });
		expect(namesOf(await form({ options: { onlyFiles } }, [item]))).toEqual(names);
	});

	test('an item without a file of such a name is refused', async () => {
		const uploaded = form({ options: { onlyFiles: 'a, png*' } }, [photo]);
		await expect(uploaded).rejects.toThrow('The item has no file to use');
	});

	test('the example uploads files of one name from several emails, each one once', async () => {
		const { parameters } = example.nodes.find(({ name }) => name === 'Upload') ?? {};
		const items = ['one', 'two'].map((id) => ({
			json: { id },
			binary: { a: file(id, 'a.pdf', 'application/pdf') },
		}));
		for (let run = 0; run < 2; run++) {
			const files = await form({ ...parameters }, items);
			expect(checksumsOf(files)).toEqual([md5('one'), md5('two')]);
			expect(uploads.files()).toHaveLength(2);
		}
	});

	test('the form takes a binary field by default', async () => {
		const given = { name: 'Holiday', binaryPropertyName: 'photo' };
		const parameters = { ...given, options: { description: 'd' } };
		const output = await form(parameters, [photo, photo]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		const shown = { name: 'Holiday', mimeType: 'image/x-own', size: '7' };
		expect(output[0]?.json).toMatchObject({ ...shown, md5Checksum: md5('a photo') });
		expect(uploads.files()).toMatchObject([{ description: 'd' }, { description: 'd' }]);
	});

	test.each([
		['MIME type', { name: 'a', mimeType: '={{ $json.text }}' }, 'text'],
		['name', { name: '={{ $json.text }}' }, ' '],
		['key', { name: 'a', options: { idempotencyKey: '={{ $json.text }}' } }, ' '],
		['key', { name: 'a', options: { idempotencyKey: '={{ $json.text }}' } }, 'x'.repeat(256)],
	])(
		'a wrong %s in a later item stops the node before anything is uploaded',
		async (_what, given, wrong) => {
			const parameters = { contentSource: 'text', content: 'x', ...given };
			const items = [{ json: { text: 'text/plain' } }, { json: { text: wrong } }];
			const failure = await failureOf(form(parameters, items));
			expect([failure.httpCode, uploads.google.requests]).toEqual(['400', []]);
		},
	);

	test.each(['={{ $json.missing }}', '={{ "" }}'])(
		'a binary field that comes out empty is refused before anything is uploaded: %s',
		async (binaryPropertyName) => {
			const items = [photo, itemOf({ data: file('x') })];
			const failure = await failureOf(form({ name: 'a', binaryPropertyName }, items));
			expect(failure.message).toBe("'Files' names no file");
			expect(uploads.google.requests).toEqual([]);
		},
	);

	describe('several files of an item', () => {
		const two = itemOf({ attachment_0: file('a', 'a.txt'), attachment_1: file('b') });
		const other = itemOf({ attachment_0: file('c', 'c.txt') });
		const all = { binaryPropertyName: '*' };

		test('each get an item of their own, paired to the input item', async () => {
			const output = await form(all, [two, other]);
			const shown = (name: string, text: string) => ({ name, md5Checksum: md5(text) });
			expect(output).toMatchObject([
				{ json: shown('a.txt', 'a'), pairedItem: { item: 0 } },
				{ json: shown('attachment_1.txt', 'b'), pairedItem: { item: 0 } },
				{ json: shown('c.txt', 'c'), pairedItem: { item: 1 } },
			]);
			expect(uploads.files()).toHaveLength(3);
		});

		test.each([
			['attachment_1, attachment_0', ['b', 'a']],
			[
				['attachment_1', 'attachment_0'],
				['b', 'a'],
			],
			['', ['a', 'b']],
		])('are taken in the order of a list, or all of them: %j', async (names, texts) => {
			const given = { contentSource: 'binary', binaryPropertyName: names };
			expect(checksumsOf(await object(given, [two]))).toEqual(texts.map(md5));
		});

		test('are not meant by a list of an empty name', async () => {
			const given = { contentSource: 'binary', binaryPropertyName: [''] };
			const failure = await failureOf(object(given, [two]));
			expect(failure.message).toBe("'binaryPropertyName' names no file");
		});

		test.each(['none', 'document'])(
			'are uploaded once if answers are lost: %s',
			async (convertTo) => {
				const match = convertTo === 'none' ? 'drive.files.create' : 'upload.session';
				uploads.google.fault({ match, times: 10, connection: 'resetAfter' });
				const output = await form({ ...all, options: { convertTo } }, [two]);
				const ids = uploads.files().map(({ id }) => id);
				expect(output.map(({ json }) => json['id'])).toEqual(ids);
				expect(output).toHaveLength(2);
			},
		);

		test.each(['several', 'x'.repeat(255)])(
			'with the key %s, a second run uploads nothing',
			async (idempotencyKey) => {
				const given = { ...all, options: { idempotencyKey } };
				const first = await form(given, [two]);
				const repeated = first.map(({ json }) => ({
					json: { id: json['id'], repeated: true },
				}));
				expect(await form(given, [two])).toMatchObject(repeated);
				expect(uploads.files()).toHaveLength(2);
			},
		);

		test('cannot all have the one given name', async () => {
			const failure = await failureOf(form({ ...all, name: 'a' }, [two, other]));
			const told = "'Name' is for a single file, but 2 files would be uploaded";
			expect(failure.message).toBe(told);
			expect(uploads.google.requests).toEqual([]);
		});

		const noData =
			/^It has no binary data.*turn on Download Attachments in List, Search or Read\.$/;
		const data = { binaryPropertyName: 'data' };
		const photos = { photo: file('x') };
		const oneOfThem = /'photo' \(no name\)\. Enter one of them in 'Files'/;

		test.each([
			[all, {}, 'The item has no file to use', noData],
			[data, photos, "The item has no binary field 'data'", oneOfThem],
		])('an item without the files is refused: %j', async (given, binary, message, advice) => {
			const failure = await failureOf(form(given, [itemOf(binary)]));
			expect([failure.message, uploads.google.requests]).toEqual([message, []]);
			expect(failure.description).toMatch(advice);
		});
	});

	test('a leftover expression for a binary field does not count where the content is a text', async () => {
		const given = { name: 'a', contentSource: 'text', content: 'x' };
		const leftover = { binaryPropertyName: '={{ $json.missing }}' };
		expect(await form({ ...given, ...leftover })).toHaveLength(1);
	});

	test('the input object takes base64 by default, the same options beside the rest', async () => {
		const own = { mimeType: 'application/vnd.google-apps.folder', clientId: 'stand-in-client' };
		const folder = uploads.google.files.add({ name: 'f', ...own });
		const parentFolder = `https://drive.google.com/drive/folders/${folder.id}?usp=sharing`;
		const given = { name: 'a.csv', content: base64('a,b'), convertTo: 'spreadsheet' };
		const [item] = await object({ ...given, parentFolder });
		const mimeType = 'application/vnd.google-apps.spreadsheet';
		expect(item?.json).toMatchObject({ mimeType, parents: [folder.id] });
	});

	describe('a path', () => {
		let folder: string;
		let onDisk: string;

		beforeAll(async () => {
			folder = await mkdtemp(path.join(readable, 'upload-'));
			onDisk = path.join(folder, 'a.txt');
			await writeFile(onDisk, 'from disk');
		});
		afterAll(async () => {
			await rm(folder, { recursive: true });
		});

		const byPath = (content: string) => ({
			...{ name: 'a.txt', contentSource: 'filePath', content },
		});
		const allowed = (content: string) => object(byPath(content), undefined, true);

		test('is read in the form, and in an input object where the node allows it', async () => {
			const items = [...(await form(byPath(onDisk))), ...(await allowed(onDisk))];
			expect(checksumsOf(items)).toEqual([md5('from disk'), md5('from disk')]);
		});

		test('is refused in an input object otherwise', async () => {
			const { message } = await failureOf(object(byPath(onDisk)));
			expect(message).toMatch(/filePath/);
			expect(uploads.calls()).toEqual([]);
		});

		test.each(['/etc/hostname', '../../etc/hostname', '/nowhere/a'])(
			'outside of what n8n allows is refused: %s',
			async (outside) => {
				const { message } = await failureOf(allowed(outside));
				expect(message).toContain('cannot be read');
				expect(uploads.calls()).toEqual([]);
			},
		);

		test.each(['', ' '])(
			'that is empty is refused before another file is uploaded: "%s"',
			async (empty) => {
				const items = [onDisk, empty].map((content) => ({ json: { content } }));
				const { message } = await failureOf(form(byPath('={{ $json.content }}'), items));
				expect(message).toBe("'Content' is empty");
				expect(uploads.google.requests).toEqual([]);
			},
		);

		test('what n8n forbids is refused in the same words, whether it is there or not', async () => {
			const there = ['/etc/hostname', '/proc/self/mem/a'];
			for (const outside of [...there, '/etc/no-such-file', '/no-such-folder/a']) {
				const { description } = await failureOf(allowed(outside));
				const told = "n8n's file access rules do not allow this path.";
				expect([outside, description]).toEqual([outside, told]);
			}
		});

		test('pipes are refused without being opened: five of them would hold all threads that n8n reads files with', async () => {
			const pipe = path.join(folder, 'pipe');
			execFileSync('mkfifo', [pipe]);
			const paths = [pipe, pipe, pipe, pipe, pipe, onDisk];
			const items = paths.map((content) => ({ json: { content } }));
			const given = { resource: 'file', operation: 'upload' };
			const parameters = { ...given, ...byPath('={{ $json.content }}') };
			const node = { onError: 'continueRegularOutput' } as const;
			const outputs = await runNode({ url: uploads.google.url, items, parameters, node });
			const message = `The file ${pipe} cannot be read. It is not a file. Enter the path of a file, not of a folder.`;
			const error = { code: 400, message, status: 'INVALID_ARGUMENT' };
			expect(outputs.slice(0, 5).map(({ json }) => json)).toEqual(Array(5).fill({ error }));
			expect(outputs[5]?.json).toMatchObject({ md5Checksum: md5('from disk') });
		});
	});

	const filled = { name: 'a', content: 'YQ==' };
	const sources = /contentSource.*base64, mailAttachment, filePath, binary/;
	const types = /convertTo.*none, document, spreadsheet, presentation/;

	test.each<[IDataObject, RegExp]>([
		[{}, /content/],
		[{ content: 'YQ==' }, /'name'/],
		[{ name: 'a', content: 'Y#' }, /base64/],
		[{ name: 'a', contentSource: 'url' }, sources],
		[{ ...filled, convertTo: 'pdf' }, types],
		[{ ...filled, parentFolder: 'a/b' }, /parentFolder/],
		[{ ...filled, mimeType: 'pdf' }, /'mimeType'/],
		[{ name: 'a', folder: 'x' }, /folder/],
		[{ name: 'a', contentSource: 'binary', binaryPropertyName: 'x' }, /x/],
	])('refused before any request: %j', async (given, message) => {
		expect((await failureOf(object(given))).message).toMatch(message);
		expect(uploads.calls()).toEqual([]);
	});
});
