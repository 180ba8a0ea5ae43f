import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { collectParts } from '../../dev/google/gmail/mime.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { Execution } from '../../dev/n8n/n8nApi.ts';
import { items, manualTrigger, node, useSharedN8n, type SharedN8n } from './startTestN8n';
import { inRow, outputOf, workspaceType } from './workflows';

let google: GoogleServer;
let n8n: SharedN8n;
let credential: { id: string; name: string };

/** The stand-in behind a path prefix, as behind a company's gateway. */
async function connect(): Promise<void> {
	google.reset();
	const accessToken = google.tokens.issue();
	const refreshToken = google.tokens.issueRefresh();
	credential = await n8n.api.createCredential('workspaceOAuth2Api', 'Workspace', {
		...buildSignedInCredential(google.url, { accessToken, refreshToken }),
		// A slash at the end is allowed.
		mailApiBase: `${google.url}/gmail/v1/`,
	});
}

beforeAll(async () => {
	google = await startGoogle({ pathPrefix: '/google/prefix' });
	n8n = await useSharedN8n();
});
beforeEach(connect);
afterEach(() => {
	expectNoViolations(google);
});
afterAll(async () => {
	await google.close();
});

function step(name: string, parameters: object, more: object = {}) {
	return node(
		name,
		workspaceType,
		{ ...parameters },
		{ credentials: { workspaceOAuth2Api: credential }, ...more },
	);
}

type Step = ReturnType<typeof step>;

async function run(values: readonly object[], ...steps: Step[]): Promise<Execution> {
	const nodes = [manualTrigger(), items('Items', values), ...steps];
	return await n8n.api.runOnce(inRow('mail', ...nodes));
}

const send = { operation: 'send', to: '={{ $json.to }}', subject: 'Grüße', body: 'Hi' };

test('a file goes from an email to Drive and from Drive into an email, by its name and its ID alone', async () => {
	const raw = [
		'Subject: Invoice',
		'Content-Type: application/pdf; name="invoice.pdf"',
		'Content-Disposition: attachment; filename="invoice.pdf"',
		'Content-Transfer-Encoding: base64',
		'',
		Buffer.from('PDF').toString('base64'),
	].join('\r\n');
	const messageId = google.gmail.seed({ raw });
	const upload = {
		resource: 'file',
		operation: 'upload',
		contentSource: 'mailAttachment',
		messageId,
	};
	const attach = {
		operation: 'send',
		to: 'ann@example.com',
		subject: 'S',
		body: 'B',
		driveFiles: ['{{ $json.id }}'],
	};
	const steps = [
		step('Upload', { ...upload, attachment: 'invoice.pdf' }),
		step('Form', {
			...attach,
			driveFiles: undefined,
			options: { driveFiles: '={{ $json.webViewLink }}' },
		}),
		step('JSON', {
			inputMode: 'json',
			inputObject: `=${JSON.stringify(attach).replace('$json.id', "$('Upload').item.json.id")}`,
		}),
	];
	const execution = await run([{}], ...steps);
	expect(execution.resultData.error).toBeUndefined();
	const files = google.gmail.sent.map(({ mime }) =>
		collectParts(mime)
			.filter(({ filename }) => filename !== '')
			.map(({ filename, data }) => [filename, data.toString()]),
	);
	expect(files).toEqual([[['invoice.pdf', 'PDF']], [['invoice.pdf', 'PDF']]]);
});

test('send, list, search and read by the form', async () => {
	google.gmail.seed({ from: 'Ann <ann@example.com>', subject: 'Übersicht', text: 'Tom & Jerry' });
	const file = node('File', 'n8n-nodes-base.convertToFile', {
		operation: 'toText',
		sourceProperty: 'to',
		options: { fileName: 'ü.txt' },
	});
	const execution = await run(
		[{ to: '"Doe, John" <john@example.com>' }],
		file,
		step('Send', {
			...send,
			to: '={{ $("Items").item.json.to }}',
			attachments: 'data',
			options: { bcc: 'boss@example.com' },
		}),
		step('List', {
			...{ operation: 'list', status: 'unread' },
			readingOptions: { includeBody: true },
		}),
		step('Search', { operation: 'search', query: 'subject:Übersicht' }),
		step('Read', {
			operation: 'read',
			messageId: '={{ $("Send").first().json.id }}',
			options: { downloadAttachments: true, includeHeaders: true },
		}),
	);
	expect(execution.resultData.error).toBeUndefined();
	const [sent] = google.gmail.sent;
	expect(sent?.recipients).toEqual(['john@example.com', 'boss@example.com']);
	expect(outputOf(execution, 'Send')[0]?.json).toEqual({
		id: sent?.id,
		threadId: sent?.threadId,
		labelIds: ['SENT'],
	});
	expect(
		outputOf(execution, 'List').map(({ json }) => [
			json['subject'],
			json['text'],
			json['snippet'],
		]),
	).toEqual([['Übersicht', 'Tom & Jerry', 'Tom & Jerry']]);
	expect(outputOf(execution, 'Search').map(({ json }) => json['sender'])).toEqual([
		'Ann <ann@example.com>',
	]);
	const [read] = outputOf(execution, 'Read');
	expect(read?.json).toMatchObject({
		subject: 'Grüße',
		text: 'Hi',
		attachments: [{ fileName: 'ü.txt' }],
	});
	expect(read?.binary?.['attachment_0']).toMatchObject({
		fileName: 'ü.txt',
		mimeType: 'text/plain',
	});
	expect(google.requests.every(({ path: asked }) => asked.startsWith('/gmail/v1/'))).toBe(true);
});
