// n8n lets a field of a credential have an expression about the item.
import { generateKeyPairSync } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { buildEndpoints } from '../../../dev/google/credential';
import { startGoogle, type GoogleServer } from '../../../dev/google/server';
import { WorkspaceServiceAccountApi } from '../../../credentials/WorkspaceServiceAccountApi.credentials';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { createExecuteContext, failureOf } from '../../createExecuteContext';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
	modulusLength: 2048,
	publicKeyEncoding: { type: 'spki', format: 'pem' },
	privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const robot = 'robot@project.example';
const [ann, ben] = ['ann@example.com', 'ben@example.com'];
let google: GoogleServer;

beforeAll(async () => {
	const serviceAccounts = [{ email: robot, publicKey, delegates: [ann, ben] }];
	google = await startGoogle({ users: [ann, ben], serviceAccounts });
});
afterAll(() => google.close());

const credential = {
	email: robot,
	privateKey,
	driveAccess: 'allFiles',
	scope: 'https://www.googleapis.com/auth/gmail.send',
	accessToken: '',
};
const parameters = {
	authentication: 'serviceAccount',
	...{ resource: 'mail', operation: 'send' },
	...{ to: 'boss@example.com', subject: 'S', body: 'B' },
};

/** Sends an email for each item. @returns the users whose mailboxes they left */
async function send(delegatedEmail: string, items: IDataObject[]) {
	const context = createExecuteContext({
		nodeType: new Workspace(),
		credentialTypes: { workspaceServiceAccountApi: new WorkspaceServiceAccountApi() },
		credentials: {
			workspaceServiceAccountApi: {
				...buildEndpoints(google.url),
				...credential,
				delegatedEmail,
			},
		},
		parameters,
		items: items.map((json) => ({ json })),
	});
	await new Workspace().execute.call(context);
	const sent = google.requests.filter(({ method }) => method === 'gmail.users.messages.send');
	return sent.slice(-items.length).map(({ token = '' }) => google.tokens.find(token)?.user);
}

test('one item is sent by the user that the credential names for it', async () => {
	expect(await send('={{ $json.sender }}', [{ sender: ben }])).toEqual([ben]);
});

test('several items are not sent from the mailbox of the first one', async () => {
	const failure = await failureOf(
		send('={{ $json.sender }}', [{ sender: ann }, { sender: ben }]),
	);
	expect(failure.message).toMatch(/^'Delegated Email' of the credential depends on the item/);
	expect(await send(ann, [{}, {}])).toEqual([ann, ann]);
});
