import { quoteField } from '../../nodes/fields/field';
import { type FileKind, parseFileId, parseId } from '../../nodes/Workspace/locators';

const id = '1Qm7xWc0aVbR2yKt4hL9_-x';

test.each<[FileKind, string]>([
	['spreadsheet', `https://docs.google.com/spreadsheets/d/${id}/edit#gid=0`],
	['spreadsheet', `https://docs.google.com/spreadsheets/d/${id}`],
	['spreadsheet', `https://docs.google.com/spreadsheets/u/0/d/${id}/edit?usp=sharing`],
	['spreadsheet', `https://docs.google.com/a/example.com/spreadsheets/d/${id}/htmlview`],
	['document', `https://docs.google.com/document/d/${id}/edit?tab=t.0#heading=h.1`],
	['document', `https://docs.google.com/document/u/1/d/${id}/edit`],
	['document', `https://docs.google.com/document/d/${id}/`],
	['document', `https://docs.google.com/open?id=${id}`],
	['document', ` https://docs.google.com/document/d/${id}/edit `],
	['spreadsheet', `docs.google.com/spreadsheets/d/${id}/edit`],
	['document', `https%3A%2F%2Fdocs.google.com%2Fdocument%2Fd%2F${id}%2Fedit%3Ftab%3Dt.0`],
	['document', `https://drive.google.com/file/d/${id}/view?usp=drive_link`],
	['folder', `https://drive.google.com/drive/folders/${id}?usp=sharing`],
	['folder', `https://drive.google.com/drive/u/0/folders/${id}`],
	['folder', `https://drive.google.com/drive/mobile/folders/${id}`],
	['folder', `https://drive.google.com/folderview?id=${id}&usp=sharing`],
	['folder', `https://drive.google.com/open?id=${id}`],
	['folder', ` ${id} `],
])('%s: %s', (name, text) => {
	expect(parseFileId(text, name, 'documentId')).toBe(id);
});

test.each(['', '/u/0'])(
	'the address of My Drive means its top level: /drive%s/my-drive',
	(user) => {
		const address = `https://drive.google.com/drive${user}/my-drive`;
		expect(parseFileId(address, 'folder', 'documentId')).toBe('root');
		expect(() => parseFileId(address, 'document', 'documentId')).toThrow(
			'is a URL without an ID',
		);
	},
);

test.each([
	['.', `${quoteField('documentId')} is not an ID: .`],
	['..', `${quoteField('documentId')} is not an ID: ..`],
	['a/b', `${quoteField('documentId')} is not an ID: a/b`],
	[
		'/spreadsheets/d/1Qm7/edit',
		`${quoteField('documentId')} is not an ID: /spreadsheets/d/1Qm7/edit`,
	],
	['/etc/passwd', `${quoteField('documentId')} is not an ID: /etc/passwd`],
	['<1Qm7xWc0aVbR2yKt4hL9>', `${quoteField('documentId')} is not an ID: <1Qm7`],
	[
		'//evil.example/spreadsheets/d/1Qm7',
		`${quoteField('documentId')} is not an ID: //evil.example`,
	],
	['a b', `${quoteField('documentId')} is not an ID: a b`],
	['ä', `${quoteField('documentId')} is not an ID: ä`],
	['https://', `${quoteField('documentId')} is not an ID`],
	[
		`https://evil.example/spreadsheets/d/${id}`,
		`${quoteField('documentId')} is not a Google Drive or Google Docs URL: evil.example`,
	],
	['https://docs.google.com/spreadsheets/', `${quoteField('documentId')} is a URL without an ID`],
	[
		'https://docs.google.com/spreadsheets/d/../edit',
		`${quoteField('documentId')} is a URL without an ID`,
	],
	[
		'https://docs.google.com%2F@evil.example/d/a%20b',
		`${quoteField('documentId')} is a URL without an ID`,
	],
	[
		`https://docs.google.com/spreadsheets/d/e/2PACX-${id}/pubhtml`,
		`${quoteField('documentId')} is a URL without an ID`,
	],
	[
		`https://docs.google.com/document/d/${id}/edit`,
		`${quoteField('documentId')} is the URL of a document, not of a spreadsheet`,
	],
])('%s is refused', (text, message) => {
	expect(() => parseFileId(text, 'spreadsheet', 'documentId')).toThrow(message);
});

test.each<[FileKind | 'file', string, RegExp]>([
	[
		'spreadsheet',
		'My sales',
		/A title is not an ID\. Enter the ID of the spreadsheet, or its URL/,
	],
	[
		'spreadsheet',
		'https://docs.google.com/spreadsheets/',
		/^Enter the ID of the spreadsheet, or its URL/,
	],
	['file', 'https://docs.google.com/', /^Enter the ID of the file, or its URL/],
])('what to do is said: %s %s', (name, text, description) => {
	const refused = (() => {
		try {
			return parseFileId(text, name, 'documentId');
		} catch (error) {
			return error;
		}
	})();
	expect(refused).toMatchObject({ description: expect.stringMatching(description) as string });
});

test('a long text that is no ID is shortened', () => {
	expect(() => parseId(`${'a'.repeat(60)}!`, 'messageId')).toThrow(
		`${quoteField('messageId')} is not an ID: ${'a'.repeat(60)}…`,
	);
	expect(() => parseId(`${'a'.repeat(59)}!`, 'messageId')).toThrow(
		`${quoteField('messageId')} is not an ID: ${'a'.repeat(59)}!`,
	);
});

test('an id is trimmed and holds nothing that a path would understand', () => {
	expect(parseId(' 18c2f0a1b2c3d4e5 ', 'messageId')).toBe('18c2f0a1b2c3d4e5');
	for (const bad of ['', '../x', 'a%2Fb', 'x?y', 'x#y', 'a\nb']) {
		expect(() => parseId(bad, 'messageId')).toThrow(`${quoteField('messageId')} is not an ID`);
	}
});
