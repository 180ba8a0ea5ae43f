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
		(await uploads.run({ content: base64('x'), ...params })).mimeType;

	test.each([
		['a.pdf', '', 'application/pdf'],
		['a.docx', '', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
		['a.unknown-ending', '', 'application/octet-stream'],
		['README', '', 'application/octet-stream'],
		['a.pdf', ' text/x-own ', 'text/x-own'],
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
		const refused = await catchFailure(uploads.run({ content: base64('x'), mimeType }));
		expect(refused.code).toBe(400);
		expect(uploads.google.requests).toEqual([]);
	});

	test.each(['text/plain; charset=utf-8', 'text/plain ;charset=utf-8'])(
		'%j is kept',
		async (mimeType) => {
			expect(await typed({ name: 'a', mimeType })).toBe(mimeType);
		},
	);

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

	test.each(['eA', 'eA==', 'e\r\nA \n==', ' eA== \n'])(
		'base64 "%s" is one letter',
		async (content) => {
			expect(await uploads.run({ content })).toMatchObject({ md5Checksum: md5('x') });
		},
	);

	test('base64 of the URL alphabet', async () => {
		const { md5Checksum } = await uploads.run({ content: '_-8' });
		expect(md5Checksum).toBe(md5(Buffer.from([0xff, 0xef])));
	});

	test('a text goes up as it is, in UTF-8', async () => {
		const upload = async (name: string, content: string) =>
			await uploads.run({ contentSource: 'text', content, name });
		expect(await upload('a', 'Grüße 😀\n')).toMatchObject({
			md5Checksum: md5('Grüße 😀\n'),
			mimeType: 'text/plain; charset=utf-8',
		});
		expect(await upload('a.csv', 'a,b')).toMatchObject({ mimeType: 'text/csv' });
	});

	test('without a name a binary file keeps its own; a text is refused before any request', async () => {
		const data = { data: Buffer.from('x'), fileName: 'photo.png', mimeType: 'image/x-own' };
		const named = testItem({ binary: { data } });
		const result = await uploads.run({ contentSource: 'binary', name: '' }, named);
		expect(result).toMatchObject({ name: 'photo.png', mimeType: 'image/png' });
		const before = uploads.google.requests.length;
		const nameOnly = { contentSource: 'text', content: 'x', name: '' } as const;
		expect(await catchFailure(uploads.run(nameOnly, testItem()))).toMatchObject({
			code: 400,
			description: 'Enter a name. Only a binary file or an attachment can have its own.',
		});
		expect(uploads.google.requests).toHaveLength(before);
	});

	test('a path is read through the item', async () => {
		const folder = await mkdtemp(path.join(tmpdir(), 'upload-'));
		const file = path.join(folder, 'a.bin');
		await writeFile(file, 'from disk');
		const result = await uploads.run({ contentSource: 'filePath', content: file });
		expect(result).toMatchObject({ md5Checksum: md5('from disk') });
		await rm(folder, { recursive: true });
	});

	test('an empty path and a missing field are refused before any request', async () => {
		const noPath = uploads.run({ contentSource: 'filePath', content: ' ' });
		expect(await catchFailure(noPath)).toMatchObject({ code: 400 });
		const item = testItem({ binary: { photo: { data: Buffer.from('x') } } });
		const failure = await catchFailure(uploads.run({ contentSource: 'binary' }, item));
		expect(failure).toMatchObject({ code: 400 });
		expect(`${failure.message} ${failure.description ?? ''}`).toContain('photo');
		expect(uploads.google.requests).toEqual([]);
	});
});

describe('in n8n', () => {
	const uploads = new Uploads();

	const readable = tmpdir();
	// n8n reads it with its first look at a file.
	process.env.N8N_RESTRICT_FILE_ACCESS_TO = readable;

	beforeEach(() => {
		uploads.google.tokens.issue({ token });
	});

	const googleDocument = 'application/vnd.google-apps.document';
	const photo: INodeExecutionData = {
		json: {},
		binary: { photo: { data: base64('a photo'), mimeType: 'image/x-own', fileName: 'p.own' } },
	};

	async function form(parameters: IDataObject, items: INodeExecutionData[] = [{ json: {} }]) {
		const { url } = uploads.google;
		return await runNode({
			url,
			items,
			parameters: { resource: 'file', operation: 'upload', ...parameters },
		});
	}

	async function object(
		inputObject: IDataObject,
		more: IDataObject = {},
		items?: INodeExecutionData[],
	) {
		const parameters = { inputMode: 'json', inputObject: JSON.stringify(inputObject), ...more };
		return await runNode({ url: uploads.google.url, parameters, items });
	}

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
		[
			'a file without a name is named after its field',
			{ mimeType: 'text/plain' },
			'my_file.txt',
		],
		[
			'the type of a Google file is not that of its bytes',
			{ mimeType: googleDocument },
			'my_file.bin',
		],
	])('%s', async (_what, binary, name) => {
		const data = base64('x');
		const [item] = await form({}, [{ json: {}, binary: { my_file: { data, ...binary } } }]);
		expect(item?.json).toMatchObject({ name });
		expect(item?.json['mimeType']).not.toBe(googleDocument);
	});

	test.each([
		['*.pdf, invoice*', ['a.PDF', 'Invoice 7.doc']],
		['pdf, DOC', ['a.PDF', 'Invoice 7.doc']],
		['.pdf', ['a.PDF']],
		['readme', ['README']],
		['a, png*', undefined],
	])('only the files whose names fit %j are uploaded', async (onlyFiles, names) => {
		const file = (fileName: string) => ({ data: base64('x'), mimeType: 'a/b', fileName });
		const binary = {
			a: file('a.PDF'),
			b: file('logo.png'),
			c: file('Invoice 7.doc'),
			d: file('README'),
		};
		const uploaded = form({ options: { onlyFiles } }, [{ json: {}, binary }]);
		if (names) expect((await uploaded).map(({ json }) => json['name'])).toEqual(names);
		else await expect(uploaded).rejects.toThrow('The item has no file to use');
	});

	test('the example uploads files of one name from several emails, each one once', async () => {
		const { parameters } = example.nodes.find(({ name }) => name === 'Upload') ?? {};
		const items = ['one', 'two'].map((id) => ({
			json: { id },
			binary: { a: { data: base64(id), mimeType: 'application/pdf', fileName: 'a.pdf' } },
		}));
		for (let run = 0; run < 2; run++) {
			const files = await form({ ...parameters }, items);
			expect(files.map(({ json }) => json['md5Checksum'])).toEqual([md5('one'), md5('two')]);
			expect(uploads.files()).toHaveLength(2);
		}
	});

	test('a file without a name has that of its field and type', async () => {
		const invoice = { data: base64('x'), mimeType: 'application/pdf', fileExtension: 'pdf' };
		const binary = { invoice, logo: { ...invoice, fileName: 'logo.png' } };
		const uploaded = await form({ options: { onlyFiles: 'pdf' } }, [{ json: {}, binary }]);
		expect(uploaded.map(({ json }) => json['name'])).toEqual(['invoice.pdf']);
	});

	test('the form takes a binary field by default', async () => {
		const given = { name: 'Holiday', binaryPropertyName: 'photo' };
		const parameters = { ...given, options: { description: 'd' } };
		const [first, second, ...more] = await form(parameters, [photo, photo]);
		expect(more).toEqual([]);
		expect([first?.pairedItem, second?.pairedItem]).toEqual([{ item: 0 }, { item: 1 }]);
		const shown = { name: 'Holiday', mimeType: 'image/x-own', size: '7' };
		expect(first?.json).toMatchObject({ ...shown, md5Checksum: md5('a photo') });
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
			const data = { data: base64('x'), mimeType: 'text/plain' };
			const items = [photo, { json: {}, binary: { data } }];
			const failure = await failureOf(form({ name: 'a', binaryPropertyName }, items));
			expect(failure.message).toBe("'Files' names no file");
			expect(uploads.google.requests).toEqual([]);
		},
	);

	describe('several files of an item', () => {
		const file = (text: string, fileName?: string) => ({
			data: base64(text),
			mimeType: 'text/plain',
			...(fileName && { fileName }),
		});
		const items: INodeExecutionData[] = [
			{ json: {}, binary: { attachment_0: file('a', 'a.txt'), attachment_1: file('b') } },
			{ json: {}, binary: { attachment_0: file('c', 'c.txt') } },
		];
		const all = { binaryPropertyName: '*' };

		test('each get an item of their own, paired to the input item', async () => {
			const output = await form(all, items);
			const shown = (name: string, text: string) => ({ name, md5Checksum: md5(text) });
			expect(output).toMatchObject([
				{ json: shown('a.txt', 'a'), pairedItem: { item: 0 } },
				{ json: shown('attachment_1.txt', 'b'), pairedItem: { item: 0 } },
				{ json: shown('c.txt', 'c'), pairedItem: { item: 1 } },
			]);
			expect(uploads.files()).toHaveLength(3);
		});

		test.each(['attachment_1, attachment_0', ['attachment_1', 'attachment_0']])(
			'are taken in the order of a list: %j',
			async (binaryPropertyName) => {
				const given = { operation: 'upload', contentSource: 'binary', binaryPropertyName };
				const output = await object(given, {}, items.slice(0, 1));
				expect(output.map(({ json }) => json['md5Checksum'])).toEqual([md5('b'), md5('a')]);
			},
		);

		test('are all of them if an input object names none', async () => {
			const given = { operation: 'upload', contentSource: 'binary', binaryPropertyName: '' };
			expect(await object(given, {}, items.slice(0, 1))).toHaveLength(2);
			const entries = { ...given, binaryPropertyName: [''] };
			const failure = await failureOf(object(entries, {}, items.slice(0, 1)));
			expect(failure.message).toBe("'binaryPropertyName' names no file");
		});

		test.each(['none', 'document'])(
			'are uploaded once if answers are lost: %s',
			async (convertTo) => {
				const match = convertTo === 'none' ? 'drive.files.create' : 'upload.session';
				uploads.google.fault({ match, times: 10, connection: 'resetAfter' });
				const output = await form({ ...all, options: { convertTo } }, items.slice(0, 1));
				const ids = uploads.files().map(({ id }) => id);
				expect(output.map(({ json }) => json['id'])).toEqual(ids);
				expect(output).toHaveLength(2);
			},
		);

		test.each(['several', 'x'.repeat(255)])(
			'with the key %s, a second run uploads nothing',
			async (idempotencyKey) => {
				const options = { idempotencyKey };
				const first = await form({ ...all, options }, items.slice(0, 1));
				const second = await form({ ...all, options }, items.slice(0, 1));
				const repeated = first.map(({ json }) => ({
					json: { id: json['id'], repeated: true },
				}));
				expect(second).toMatchObject(repeated);
				expect(uploads.files()).toHaveLength(2);
			},
		);

		test('a failure names the files that are there', async () => {
			let requests = 0;
			const match = ({ method }: { method?: string }) =>
				method === 'drive.files.create' && ++requests > 1;
			uploads.google.fault({ match, times: 9, status: 403 });
			const failure = await failureOf(form(all, items.slice(0, 1)));
			expect(failure.description).toContain(`${uploads.files()[0]?.id ?? '?'}/view`);
		});

		test('cannot all have the one given name', async () => {
			const failure = await failureOf(form({ ...all, name: 'a' }, items));
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
			const failure = await failureOf(form(given, [{ json: {}, binary }]));
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
		const mimeType = 'application/vnd.google-apps.folder';
		const own = { mimeType, clientId: 'stand-in-client' };
		const folder = uploads.google.files.add({ name: 'f', ...own });
		const [item] = await object({
			operation: 'upload',
			name: 'a.csv',
			content: base64('a,b'),
			parentFolder: `https://drive.google.com/drive/folders/${folder.id}?usp=sharing`,
			convertTo: 'spreadsheet',
		});
		expect(item?.json).toMatchObject({
			mimeType: 'application/vnd.google-apps.spreadsheet',
			parents: [folder.id],
		});
	});

	test('the input object takes a binary field', async () => {
		const source = { contentSource: 'binary', binaryPropertyName: 'photo' };
		const [item] = await object({ operation: 'upload', name: 'p', ...source }, {}, [photo]);
		expect(item?.json).toMatchObject({ md5Checksum: md5('a photo') });
	});

	describe('a path', () => {
		let file: string;

		beforeAll(async () => {
			file = path.join(await mkdtemp(path.join(readable, 'upload-')), 'a.txt');
			await writeFile(file, 'from disk');
		});
		afterAll(async () => {
			await rm(path.dirname(file), { recursive: true });
		});

		const fromPath = { operation: 'upload', name: 'a.txt', contentSource: 'filePath' };
		const byPath = (content: string) => ({ ...fromPath, content });

		test('is read in the form, and in an input object where the node allows it', async () => {
			const [one] = await form({ name: 'a.txt', contentSource: 'filePath', content: file });
			const [other] = await object(byPath(file), { allowFilePaths: true });
			for (const item of [one, other])
				expect(item?.json).toMatchObject({ md5Checksum: md5('from disk') });
		});

		test('is refused in an input object otherwise', async () => {
			const { message } = await failureOf(object(byPath(file)));
			expect(message).toMatch(/filePath/);
			expect(uploads.calls()).toEqual([]);
		});

		test.each(['/etc/hostname', '../../etc/hostname', '/nowhere/a'])(
			'outside of what n8n allows is refused: %s',
			async (outside) => {
				const allowed = { allowFilePaths: true };
				const { message } = await failureOf(object(byPath(outside), allowed));
				expect(message).toContain('cannot be read');
				expect(uploads.calls()).toEqual([]);
			},
		);

		test('what n8n forbids is refused in the same words, whether it is there or not', async () => {
			const there = ['/etc/hostname', '/proc/self/mem/a'];
			for (const outside of [...there, '/etc/no-such-file', '/no-such-folder/a']) {
				const running = object(byPath(outside), { allowFilePaths: true });
				const { description } = await failureOf(running);
				expect([outside, description]).toEqual([
					outside,
					"n8n's file access rules do not allow this path.",
				]);
			}
		});

		test('pipes are refused without being opened: five of them would hold all threads that n8n reads files with', async () => {
			const pipe = path.join(path.dirname(file), 'pipe');
			execFileSync('mkfifo', [pipe]);
			const paths = [pipe, pipe, pipe, pipe, pipe, file];
			const items = paths.map((content) => ({ json: { content } }));
			const parameters = { resource: 'file', ...byPath('={{ $json.content }}') };
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
		const { message: text } = await failureOf(object({ operation: 'upload', ...given }));
		expect(text).toMatch(message);
		expect(uploads.calls()).toEqual([]);
	});

	test('an ambiguous end is looked into by the runner', async () => {
		const fault = { match: 'drive.files.create', times: 5, connection: 'resetAfter' } as const;
		uploads.google.fault(fault);
		const [item] = await object({ operation: 'upload', name: 'a.txt', content: base64('x') });
		expect(item?.json).toMatchObject({ name: 'a.txt', md5Checksum: md5('x') });
		expect(uploads.files()).toHaveLength(1);
	});
});
