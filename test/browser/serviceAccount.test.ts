// A person with a service account enters it in n8n's form, one value wrongly at first, and reads a spreadsheet as a user of the domain.
import { generateKeyPairSync } from 'node:crypto';

import { buildServiceAddresses } from '../../dev/google/credential.ts';
import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { Building } from './building';
import { CredentialForm } from './credentialForm';
import { Editor } from './editor';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const email = 'robot@project.example';
const user = 'someone@example.com';
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
let google: GoogleServer;
let editor: Editor;
let building: Building;
let form: CredentialForm;

beforeAll(async () => {
	google = await startGoogle({
		serviceAccounts: [
			{
				email,
				publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
				delegates: [user],
			},
		],
	});
	google.sheets.seed({
		title: 'Guests',
		tabs: [{ title: 'People', rows: [['name'], ['Ann']] }],
	});
	editor = await Editor.open();
	building = new Building(editor);
	form = new CredentialForm(editor);
	await building.start();
	await building.startByClick();
	await building.add('read spreadsheet', 'Workspace', 'Read rows of spreadsheet');
});
afterEach(async () => {
	await editor.picture();
	expectNoViolations(google);
});
afterAll(async () => {
	await editor.close();
	await google.close();
});

test('a key that is none is named in the form, and with the right one it closes with its success', async () => {
	await form.create('Credential', 'Robot');
	await form.chooseMode('Service Account');
	await form.fill({ email, privateKey: 'nonsense', delegatedEmail: user });
	await form.choose('driveAccess', 'All Files');
	await form.switchOn('customEndpoints', 'mailApiBase');
	await form.fill(buildServiceAddresses(google.url));
	await form.save();
	await form.untilFailed('The private key of the service account cannot be read');
	// As it stands in Google's JSON file.
	await form.fill({ privateKey: key.replaceAll('\n', String.raw`\n`) });
	await form.save();
	await form.untilClosed();
});

test('the node then reads what that user may read', async () => {
	await editor.pick('spreadsheetId', 'Guests');
	await editor.pick('tab', 'People');
	await editor.runStep('Ann');
});
