import { basesOf } from '../../../nodes/Workspace/google/googleConnection';
import { googleBases, targetOf, uploadBase } from '../../../nodes/Workspace/google/transport';

const gateway = basesOf({
	mailApiBase: 'https://gateway.example/google/gmail/v1/',
	sheetsApiBase: 'https://gateway.example/sheets',
	docsApiBase: '',
	driveApiBase: 'http://127.0.0.1:8080/drive',
});

test('empty and absent fields mean Google’s own bases; a trailing slash does not count', () => {
	expect(basesOf({})).toEqual(googleBases);
	expect(gateway).toEqual({
		mail: 'https://gateway.example/google/gmail/v1',
		sheets: 'https://gateway.example/sheets',
		docs: googleBases.docs,
		drive: 'http://127.0.0.1:8080/drive',
	});
});

test.each([
	'gateway.example',
	'ftp://x.example',
	'https://x.example/?a=1',
	'https://u:p@x.example',
	'https://x.example/#a',
])('%s is not a base', (driveApiBase) => {
	expect(() => basesOf({ driveApiBase })).toThrow(
		"'Drive API Base' in the credential is not a valid API URL",
	);
});

test.each([
	[
		'https://gmail.googleapis.com/gmail/v1/users/me/messages?q=a',
		'https://gateway.example/google/gmail/v1/users/me/messages?q=a',
	],
	[
		'https://gmail.googleapis.com/upload/gmail/v1/users/me/messages/send',
		'https://gateway.example/google/upload/gmail/v1/users/me/messages/send',
	],
	['https://sheets.googleapis.com/v4/spreadsheets', 'https://gateway.example/sheets'],
	[
		'https://sheets.googleapis.com/v4/spreadsheets/s1/values/A1:append',
		'https://gateway.example/sheets/s1/values/A1:append',
	],
	[
		'https://docs.googleapis.com/v1/documents/d1:batchUpdate',
		'https://docs.googleapis.com/v1/documents/d1:batchUpdate',
	],
	['https://www.googleapis.com/drive/v3/files', 'http://127.0.0.1:8080/drive/files'],
	['https://www.googleapis.com/upload/drive/v3/files', 'http://127.0.0.1:8080/upload/drive/files'],
	['http://127.0.0.1:8080/session/1', 'http://127.0.0.1:8080/session/1'],
])('%s goes to %s', (url, target) => {
	expect(targetOf(url, gateway).url).toBe(target);
});

test.each([
	'https://elsewhere.example/drive/v3/files',
	'https://www.googleapis.com/drive/v30/files',
	'https://gateway.example.evil.example/sheets',
	'https://www.googleapis.com.evil.example/drive/v3/files',
])('%s is refused', (url) => {
	expect(() => targetOf(url, gateway)).toThrow('outside the API bases');
});

test('an upload goes before the service’s own path, else after the host', () => {
	expect(uploadBase('https://h/x/drive/v3', 'drive')).toBe('https://h/x/upload/drive/v3');
	expect(uploadBase('https://h/x', 'drive')).toBe('https://h/upload/x');
	expect(uploadBase('https://h/x/gmail/v1', 'mail')).toBe('https://h/x/upload/gmail/v1');
});
