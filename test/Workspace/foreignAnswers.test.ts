// Something between n8n and Google answers 200 with JSON of its own.
import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../dev/google/server';
import { failureOf } from '../createExecuteContext';
import { runNode } from './runNode';
import { useGoogle } from './standIn';

let google: GoogleServer;
useGoogle((server) => (google = server));

const mail = { operation: 'send', to: 'a@b.c', subject: 'S', body: 'B' };
const upload = { operation: 'upload', name: 'a.txt', contentSource: 'text', content: 'x' };
const unreadable =
	"Google's response does not have the form that Google documents, so it could not be read";

test.each<[string, string, IDataObject]>([
	['gmail.users.messages.send', 'The email may have been sent: ', mail],
	[
		'gmail.users.drafts.create',
		'The draft may have been saved: ',
		{ ...mail, saveAsDraft: true },
	],
	['drive.files.create', 'The request may have been carried out: ', upload],
	['docs.documents.create', 'The document may have been created: ', { resource: 'document' }],
	[
		'drive.files.create',
		'The document may have been created: ',
		{ resource: 'document', parentFolder: 'root' },
	],
	[
		'sheets.spreadsheets.create',
		'The spreadsheet may have been created: ',
		{ resource: 'spreadsheet' },
	],
	['gmail.users.messages.get', '', { operation: 'read', messageId: '18c3f0a1b2d4e5f6' }],
])('%s without an ID is no success (%s…)', async (match, beginning, input) => {
	google.fault({ match, status: 200, body: { message: 'ok' } });
	const object = { operation: 'create', title: 'T', ...input };
	if (input['operation']) delete (object as IDataObject).title;
	const parameters = { inputMode: 'json', inputObject: JSON.stringify(object) };
	const failure = await failureOf(runNode({ url: google.url, parameters }));
	expect(failure.message).toBe(beginning + unreadable);
});
