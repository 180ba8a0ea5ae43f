import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { UploadParams } from '../../../../nodes/Workspace/actions/file/fields';
import { testItem } from '../../client';
import { failing } from '../../failure';
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
		expect(await failing(uploads.run({ content: base64('x'), mimeType }))).toMatchObject({ code: 400 });
		expect(uploads.google.requests).toEqual([]);
	});

	test.each(['text/plain; charset=utf-8', 'text/plain ;charset=utf-8'])('%j is kept', async (mimeType) => {
		expect(await typed({ name: 'a', mimeType })).toBe(mimeType);
	});

	test('a binary field of another type than a media type goes up as bytes', async () => {
		const data = { data: Buffer.from('x'), mimeType: 'text/plain\r\nX-Injected: 1' };
		const result = await uploads.run({ contentSource: 'binary', name: 'a' }, testItem({ binary: { data } }));
		expect(result.mimeType).toBe('application/octet-stream');
	});
});

describe('content', () => {
	test.each([
		'Y#',
		'Y',
		'data:text/plain;base64,eA==',
		'Hello world',
		'Helloworld',
		'eA=',
		'eB==',
		'eA== eA==',
		'eA==eA==',
		'+/8_',
		'e A==',
	])('base64 "%s" is refused before any request', async (content) => {
		const failure = await failing(uploads.run({ content }));
		expect(failure).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
		expect(failure.message).not.toContain(content);
		expect(uploads.google.requests).toEqual([]);
	});

	test.each(['eA', 'eA==', 'e\r\nA \n==', ' eA== \n'])('base64 "%s" is one letter', async (content) => {
		expect(await uploads.run({ content })).toMatchObject({ md5Checksum: md5('x') });
	});

	test('base64 of the URL alphabet', async () => {
		expect(await uploads.run({ content: '_-8' })).toMatchObject({
			md5Checksum: md5(Buffer.from([0xff, 0xef])),
		});
	});

	test('a text goes up as it is, in UTF-8', async () => {
		const result = await uploads.run({ contentSource: 'text', content: 'Grüße 😀\n', name: 'a' });
		expect(result).toMatchObject({ md5Checksum: md5('Grüße 😀\n'), mimeType: 'text/plain; charset=utf-8' });
		expect(await uploads.run({ contentSource: 'text', content: 'a,b', name: 'a.csv' })).toMatchObject({
			mimeType: 'text/csv',
		});
	});

	test('without a name a binary file keeps its own; anything else is refused before any request', async () => {
		const data = Buffer.from('x');
		const named = testItem({ binary: { data: { data, fileName: 'photo.png', mimeType: 'image/x-own' } } });
		const result = await uploads.run({ contentSource: 'binary', name: '' }, named);
		expect(result).toMatchObject({ name: 'photo.png', mimeType: 'image/png' });
		const before = uploads.google.requests.length;
		const nameless = testItem({ binary: { data: { data } } });
		for (const [params, item] of [
			[{ contentSource: 'binary' }, nameless],
			[{ contentSource: 'text', content: 'x' }, testItem()],
		] as const) {
			const failure = await failing(uploads.run({ ...params, name: '' }, item));
			const description = 'Enter a name. Only a binary file can have its own.';
			expect(failure).toMatchObject({ code: 400, description });
		}
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
		expect(await failing(uploads.run({ contentSource: 'filePath', content: ' ' }))).toMatchObject({
			code: 400,
		});
		const item = testItem({ binary: { photo: { data: Buffer.from('x') } } });
		const failure = await failing(uploads.run({ contentSource: 'binary' }, item));
		expect(failure).toMatchObject({ code: 400 });
		expect(`${failure.message} ${failure.description ?? ''}`).toContain('photo');
		expect(uploads.google.requests).toEqual([]);
	});
});
