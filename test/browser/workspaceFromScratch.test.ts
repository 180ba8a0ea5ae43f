// A person without any credential signs in to Google, and makes rows of the unread emails, by clicks alone.
import { buildApiBases } from '../../dev/google/credential.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { Building } from './building';
import { CredentialForm } from './credentialForm';
import { Editor } from './editor';
import { click, StraightWay } from './person';

const user = 'someone@example.com';
let google: GoogleServer;
let editor: Editor;
let building: Building;
let form: CredentialForm;
const way = new StraightWay();
let inbox = '';

beforeAll(async () => {
	google = await startGoogle({ users: [user] });
	google.gmail.seed({
		from: 'Ann <ann@example.com>',
		subject: 'Lunch?',
		text: 'At noon',
		labelIds: ['INBOX', 'UNREAD'],
	});
	google.gmail.seed({
		from: 'Ben <ben@example.com>',
		subject: 'Known already',
		labelIds: ['INBOX'],
	});
	google.sheets.seed({ title: 'Holiday', tabs: [{ title: 'Plan' }] });
	inbox = google.sheets.seed({
		title: 'My inbox',
		tabs: [{ title: 'Archive' }, { title: 'Unread', rows: [['subject', 'done', 'from']] }],
	});
	editor = await Editor.open();
	// n8n's form begins with the kind of the newest credential.
	const key = { email: 'robot@example.com', privateKey: 'none' };
	await editor.api.createCredential('workspaceServiceAccountApi', 'Newest', key);
	building = new Building(editor);
	form = new CredentialForm(editor);
	await building.start();
	await way.go(async () => {
		await building.startByClick();
		await building.add('unread emails', 'Workspace', 'List emails');
	});
});
afterEach(async () => {
	await editor.picture();
	expectNoViolations(google);
});
afterAll(async () => {
	await editor.close();
	await google.close();
});

test('a sign-in by the button of the form and the consent page', async () => {
	await way.go(() => form.create('Credential', 'Signed in by clicks'));
	await form.chooseMode('OAuth2');
	await form.fill({ clientId: google.url, clientSecret: 'secret' });
	await form.switchOn('customEndpoints', 'mailApiBase');
	await form.fill(buildApiBases(google.url));
	await way.go(async () => {
		const consent = await form.connect();
		await click(consent.getByRole('button', { name: user }));
	});
	await form.untilClosed();
	await form.reopen('Credential');
	await editor.page.getByText('Account connected').waitFor();
	await form.close();
});

test('the unread emails are listed', async () => {
	await way.go(async () => {
		await editor.choose('status', 'Unread');
		await editor.runStep('Lunch?', 'ann@example.com');
	});
	expect(await editor.page.getByTestId('output-panel').innerText()).not.toContain(
		'Known already',
	);
});

test('become rows of a picked tab under the columns that they are mapped to, after 24 clicks', async () => {
	await way.go(() => building.add('append row', 'Workspace', 'Append rows to spreadsheet'));
	// n8n has chosen the newest of the instance, which other tests share.
	await form.use('Credential', 'Signed in by clicks');
	await way.go(async () => {
		await editor.pick('spreadsheetId', 'My inbox');
		await editor.pick('tab', 'Unread');
		await editor.chooseValue('valuesSource', 'columns');
		await editor.map('subject', 'subject');
		await editor.map('from', 'sender');
		await editor.runStep('updatedRange');
	});
	expect(way.clicks).toBeLessThanOrEqual(24);
	expect(google.sheets.values(inbox, 'Unread')).toEqual([
		['subject', 'done', 'from'],
		['Lunch?', '', 'Ann <ann@example.com>'],
	]);
	expect(google.sheets.values(inbox, 'Archive')).toEqual([]);
});
