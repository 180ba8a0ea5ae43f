import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { collectParts } from '../../dev/google/gmail/mime.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import type { Execution, NodeItem } from '../../dev/n8n/n8nApi.ts';
import {
	connectInRow,
	items,
	manualTrigger,
	node,
	useSharedN8n,
	type SharedN8n,
} from './startTestN8n';

const workspaceType = 'n8n-nodes-agent-workspace.workspace';

let google: GoogleServer;
let n8n: SharedN8n;
let credential: { id: string; name: string };
let accessToken: string;
let refreshToken: string;

/** The stand-in behind a path prefix, as behind a company's gateway. */
async function connect(scopes?: readonly string[]): Promise<void> {
	google.reset();
	accessToken = google.tokens.issue({ scopes });
	refreshToken = google.tokens.issueRefresh({ scopes });
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
beforeEach(async () => {
	await connect();
});
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
	return await n8n.api.runOnce({
		name: 'mail',
		nodes: [manualTrigger(), items('Items', values), ...steps],
		connections: connectInRow('Start', 'Items', ...steps.map(({ name }) => name)),
	});
}

function outputOf({ resultData }: Execution, name: string, output = 0): NodeItem[] {
	return resultData.runData[name]?.at(-1)?.data?.main?.[output] ?? [];
}

const methods = () => google.requests.map(({ method }) => method);
const send = { operation: 'send', to: '={{ $json.to }}', subject: 'Grüße', body: 'Hi' };
const asJson = (inputObject: unknown) => ({
	inputMode: 'json',
	inputObject: typeof inputObject === 'string' ? inputObject : JSON.stringify(inputObject),
});

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
		step(
			'JSON',
			asJson(`=${JSON.stringify(attach).replace('$json.id', "$('Upload').item.json.id")}`),
		),
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

test('send, list, search and read by the input object', async () => {
	const execution = await run(
		[{ to: ['a@example.com', 'b@example.com'] }],
		step(
			'Send',
			asJson(
				'={{ { operation: "send", to: $json.to, subject: "S", body: "**b**", bodyFormat: "markdown" } }}',
			),
		),
		step('List', asJson({ operation: 'list', labelIds: ['SENT'], maxResults: 5 })),
		step('Search', asJson({ operation: 'search', query: 'subject:S', output: 'items' })),
		step('Read', asJson('={{ { operation: "read", messageId: $json.id } }}')),
	);
	expect(execution.resultData.error).toBeUndefined();
	expect(google.gmail.sent[0]?.recipients).toEqual(['a@example.com', 'b@example.com']);
	expect(outputOf(execution, 'List')[0]?.json).toMatchObject({
		messages: [{ subject: 'S', status: 'read' }],
	});
	expect(outputOf(execution, 'Read')[0]?.json).toMatchObject({
		text: '**b**',
		html: '<p><strong>b</strong></p>',
	});
});

describe('Continue on Fail', () => {
	const values = [{ to: 'a@example.com' }, { to: 'nobody' }, { to: 'c@example.com' }];
	const error = {
		code: 400,
		message: expect.stringMatching(
			/^'To' has an entry that is not an email address: nobody\. ./,
		) as string,
		status: 'INVALID_ARGUMENT',
	};

	test('on the regular output: the error object takes the item’s place', async () => {
		const execution = await run(
			values,
			step('Send', send, { onError: 'continueRegularOutput' }),
		);
		const output = outputOf(execution, 'Send');
		expect(output.map(({ json }) => json['error'] ?? json['labelIds'])).toEqual([
			['SENT'],
			error,
			['SENT'],
		]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	test('on the error output: with the input beside it', async () => {
		const execution = await run(values, step('Send', send, { onError: 'continueErrorOutput' }));
		expect(outputOf(execution, 'Send')).toHaveLength(2);
		expect(outputOf(execution, 'Send', 1).map(({ json }) => json)).toEqual([
			{ to: 'nobody', error },
		]);
	});

	test('an email that is not there, in both modes', async () => {
		const missing = { messageId: '18c0ffee12345678' };
		const execution = await run(
			[missing],
			step(
				'Form',
				{ operation: 'read', messageId: '={{ $json.messageId }}' },
				{ onError: 'continueRegularOutput' },
			),
			step('JSON', asJson({ operation: 'read', ...missing }), {
				onError: 'continueRegularOutput',
			}),
		);
		const expected = {
			code: 404,
			message: expect.stringMatching(/^Gmail: Requested entity was not found\. ./) as string,
			status: 'NOT_FOUND',
		};
		expect(outputOf(execution, 'Form')[0]?.json).toEqual({ error: expected });
		expect(outputOf(execution, 'JSON')[0]?.json).toEqual({ error: expected });
	});
});

describe('the sign-in', () => {
	test('an expired token is refreshed once, kept, and used from then on', async () => {
		google.tokens.expire();
		const execution = await run([{ to: 'a@example.com' }], step('Send', send));
		expect(execution.resultData.error).toBeUndefined();
		// The look for the sender's name comes first, and so it is what meets the expired token.
		const look = 'gmail.users.settings.sendAs.list';
		expect(methods()).toEqual([look, 'oauth.token', look, 'gmail.users.messages.send']);
		expect(google.gmail.sent).toHaveLength(1);
		await run([{ to: 'a@example.com' }], step('Send', send));
		expect(methods().slice(4)).toEqual([look, 'gmail.users.messages.send']);
		expect(google.requests.at(-1)?.token).not.toBe(accessToken);
	});

	test('a large email survives an expired token', async () => {
		google.tokens.expire();
		const text = `={{ 'x'.repeat(6000000) }}`;
		const execution = await run(
			[{ to: 'a@example.com' }],
			step('Send', { ...send, body: text }),
		);
		expect(execution.resultData.error).toBeUndefined();
		expect(google.gmail.sent.map(({ via }) => via)).toEqual(['upload']);
	});

	test('a revoked one says what to do', async () => {
		google.tokens.expire();
		google.tokens.revoke();
		const { resultData } = await run([{ to: 'a@example.com' }], step('Send', send));
		expect(resultData.error?.['httpCode']).toBe('401');
		expect(resultData.error?.description).toMatch(/reconnect/i);
		expect(google.gmail.sent).toHaveLength(0);
	});

	test('a missing scope is named', async () => {
		await connect(['gmail.send']);
		const { resultData } = await run([{}], step('List', { operation: 'list' }));
		expect(resultData.error?.['httpCode']).toBe('403');
		expect(resultData.error?.description).toContain(
			'https://www.googleapis.com/auth/gmail.readonly',
		);
	});
});

describe('trouble on the way', () => {
	test('429 with Retry-After is waited out', async () => {
		google.fault({ match: 'gmail.users.messages.send', status: 429, retryAfter: 1 });
		await run([{ to: 'a@example.com' }], step('Send', send));
		const sends = google.requests.filter(
			({ method }) => method === 'gmail.users.messages.send',
		);
		expect(sends.map(({ status }) => status)).toEqual([429, 200]);
		expect(google.gmail.sent).toHaveLength(1);
	});

	test('a wait that is longer than allowed fails at once and is stated', async () => {
		google.fault({ match: 'gmail.users.messages.send', status: 429, retryAfter: 3600 });
		const { resultData } = await run([{ to: 'a@example.com' }], step('Send', send));
		expect(resultData.error?.['httpCode']).toBe('429');
		expect(resultData.error?.description).toContain('3600 seconds');
		expect(google.gmail.sent).toHaveLength(0);
	});

	test('an email that left before the connection broke is found, not sent again', async () => {
		google.gmail.indexDelayMilliseconds = 300;
		google.fault({ match: 'gmail.users.messages.send', connection: 'resetAfter' });
		const execution = await run([{ to: 'a@example.com' }], step('Send', send));
		expect(outputOf(execution, 'Send')[0]?.json['id']).toBe(google.gmail.sent[0]?.id);
		expect(google.gmail.sent).toHaveLength(1);
	});

	test('Retry On Fail sends only what was not sent', async () => {
		google.fault({
			match: 'gmail.users.messages.send',
			nth: 2,
			status: 400,
			message: 'Invalid To header',
		});
		const values = ['a', 'b', 'c'].map((name) => ({ to: `${name}@example.com` }));
		const retrying = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const execution = await run(values, step('Send', send, retrying));
		expect(execution.status).toBe('success');
		expect(google.gmail.sent.flatMap(({ recipients }) => recipients)).toEqual(
			values.map(({ to }) => to),
		);
		expect(outputOf(execution, 'Send').map(({ json }) => json['id'])).toEqual(
			google.gmail.sent.map(({ id }) => id),
		);
	});

	test('nothing of the email or of the sign-in stands in an error', async () => {
		google.fault({ match: 'gmail.users.messages.send', status: 400 });
		const values = [{ to: 'a@example.com', body: 'canary-body-77' }];
		const { resultData } = await run(
			values,
			step('Send', { ...send, body: '={{ $json.body }}' }),
		);
		const text = JSON.stringify(resultData.error);
		for (const secret of ['canary-body-77', accessToken, refreshToken])
			expect(text).not.toContain(secret);
	});
});

test('the labels to choose from in the editor, own ones first', async () => {
	google.gmail.labels = { Label_7: 'Customers' };
	const choices = await n8n.api.request<Array<{ name: string; value: string }>>(
		'POST',
		'dynamic-node-parameters/options',
		{
			methodName: 'getLabels',
			path: 'parameters.labelIds',
			nodeTypeAndVersion: { name: workspaceType, version: 1 },
			currentNodeParameters: {
				authentication: 'oAuth2',
				inputMode: 'fields',
				resource: 'mail',
				operation: 'list',
			},
			credentials: { workspaceOAuth2Api: credential },
		},
	);
	const own = { name: 'Customers', value: 'Label_7', description: 'Label_7' };
	const ofGmail = { name: 'UNREAD', value: 'UNREAD', description: 'UNREAD' };
	expect(choices[0]).toEqual(own);
	expect(choices).toContainEqual(ofGmail);
});
