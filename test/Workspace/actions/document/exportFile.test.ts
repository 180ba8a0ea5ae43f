import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../../createExecuteContext';
import { catchFailure } from '../../catchFailure';
import { runNode, token } from '../../runNode';
import { Calls } from './calls';

const calls = new Calls();
const office = 'application/vnd.openxmlformats-officedocument';

beforeEach(() => calls.google.tokens.issue({ token }));

const run = async (parameters: IDataObject) => {
	const [item] = await runNode({ url: calls.google.url, parameters });
	return item;
};
const read = (documentId: string, format = 'pdf') =>
	run({ resource: 'document', operation: 'read', documentId, format });

test.each([
	['pdf', 'application/pdf', 'Report.pdf'],
	['docx', `${office}.wordprocessingml.document`, 'Report.docx'],
	['odt', 'application/vnd.oasis.opendocument.text', 'Report.odt'],
	['rtf', 'application/rtf', 'Report.rtf'],
	['epub', 'application/epub+zip', 'Report.epub'],
])('a document as a file: %s', async (format, mimeType, fileName) => {
	const id = calls.document('Dear Ann,');
	const item = await read(id, format);
	const fileSize = mimeType.length + '\nDear Ann,\n'.length;
	expect(item?.json).toEqual({ documentId: id, title: 'Report', mimeType, fileSize });
	expect(item?.binary).toEqual({
		data: expect.objectContaining({ fileName, mimeType }) as unknown,
	});
	const data = item?.binary?.['data']?.data ?? '';
	expect(Buffer.from(data, 'base64').toString()).toBe(`${mimeType}\nDear Ann,\n`);
	expect(calls.methods).toEqual(['get', 'drive.files.export']);
});

test('a title with slashes is whole in the name of the file', async () => {
	const title = 'Offer 12/2026 \\ final';
	const item = await read(calls.google.docs.seed({ title, tabs: [{}] }));
	expect(item?.binary?.['data']?.fileName).toBe('Offer 12_2026 _ final.pdf');
	expect(item?.json).toMatchObject({ title });
});

test('it goes into the field that an input object names', async () => {
	const wanted = { format: 'pdf', binaryPropertyName: 'letter' };
	const inputObject = { operation: 'read', documentId: calls.document('x'), ...wanted };
	const item = await run({ inputMode: 'json', inputObject });
	expect(item?.binary?.['letter']).toMatchObject({ mimeType: 'application/pdf' });
});

test('a document above 10 MB says how large a file may be', async () => {
	const id = calls.document('x'.repeat(10 * 2 ** 20));
	const failure = await catchFailure(calls.read(id, { format: 'pdf' }));
	expect(failure).toMatchObject({ code: 403, outcome: 'notDone' });
	expect(failure.description).toContain('Google exports at most 10 MB as a file.');
});

test('a document that Drive does not show to the sign-in says which access shows it', async () => {
	const file = { clientId: 'other' };
	const id = calls.google.docs.seed({ title: 'Report', tabs: [{}], file });
	const scopes = ['documents', 'drive.file'].map(
		(name) => `https://www.googleapis.com/auth/${name}`,
	);
	calls.google.tokens.issue({ token, scopes });
	const { description } = await failureOf(read(id));
	expect(description).toContain('set Drive Access to All Files');
});

test("a spreadsheet's ID given as a document says so", async () => {
	const { description } = await failureOf(read('1a2b3c4d5e6f7g8h9i0jspreadsheet', 'text'));
	expect(description).toContain('another kind of file does not work here');
});
