import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { getRequestHelperFunctions } from 'n8n-core/dist/execution-engine/node-execution-context/utils/request-helper-functions';
import type { INode, IWorkflowExecuteAdditionalData, Workflow } from 'n8n-workflow';

import { WorkspaceOAuth2Api } from '../../credentials/WorkspaceOAuth2Api.credentials';
import { WorkspaceServiceAccountApi } from '../../credentials/WorkspaceServiceAccountApi.credentials';
import { startGoogle, type GoogleServer } from '../../dev/google/server';
import { isNodeError } from '../../nodes/core/errors';
import { describeChoiceFor } from '../../nodes/Workspace/google/scopes';
import { LongAnswer } from '../longAnswer';
import { startScriptedServer } from './scriptedServer';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const email = 'robot@project.example';

let google: GoogleServer;

beforeAll(async () => {
	const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
	google = await startGoogle({
		serviceAccounts: [{ email, publicKey: publicPem, delegates: ['a@b.c'] }],
	});
});
beforeEach(() => {
	google.reset();
});
afterAll(() => google.close());

const none: unknown = {};
const helpers = getRequestHelperFunctions(
	none as Workflow,
	none as INode,
	none as IWorkflowExecuteAdditionalData,
);

/** A new account for each call, as far as sharing a token goes. */
let calls = 0;

async function tokenWith(more: Record<string, string> = {}): Promise<string> {
	const credential = new WorkspaceServiceAccountApi();
	const scope = `https://www.googleapis.com/auth/drive call-${++calls}`;
	const values = {
		email,
		privateKey: pem,
		delegatedEmail: '',
		scope,
		tokenUrl: `${google.url}/token`,
		...more,
	};
	const { accessToken } = await credential.preAuthentication.call({ helpers }, values);
	return accessToken;
}

beforeAll(async () => {
	// Loads what is loaded on first use, for which a request has no time.
	await tokenWith();
});

/** What n8n is told, and the failure behind it. */
async function refused(promise: Promise<unknown>) {
	const error = await promise.then(
		() => new Error('Expected a refusal'),
		(thrown: unknown) => thrown as Error,
	);
	if (!isNodeError(error.cause)) throw error;
	return { error, failure: error.cause };
}

describe('a service account', () => {
	test('is refused by an answer without an end, which is not read to the end', async () => {
		const long = new LongAnswer();
		const server = await startScriptedServer(long.answer);
		try {
			const { failure } = await refused(tokenWith({ tokenUrl: `${server.url}/token` }));
			expect(failure.message).toContain(
				'Google did not issue a token for the service account (HTTP 200)',
			);
			expect(long.sentMebibytes).toBeLessThan(16);
		} finally {
			await server.close();
		}
	});

	test.each([
		['as it is', pem],
		['with line breaks in two characters', pem.replaceAll('\n', '\\n')],
		['with line breaks that were escaped twice', pem.replaceAll('\n', String.raw`\\r\\n`)],
		['with quotes around', `"${pem.replaceAll('\n', '\\n')}"`],
		['in one line', pem.replaceAll('\n', ' ')],
		['in PKCS #1', privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
	])('gets a token by its key %s', async (_, key) => {
		const token = await tokenWith({ privateKey: key });
		expect(google.tokens.find(token)).toMatchObject({
			user: email,
			scopes: ['https://www.googleapis.com/auth/drive', expect.any(String)],
		});
	});

	test('acts for a user', async () => {
		expect(google.tokens.find(await tokenWith({ delegatedEmail: ' a@b.c ' }))).toMatchObject({
			user: 'a@b.c',
		});
	});

	test('that may not act for a user says what an administrator has to allow', async () => {
		const { failure } = await refused(tokenWith({ delegatedEmail: 'boss@example.com' }));
		expect(failure.code).toBe(401);
		expect(failure.message).toContain('unauthorized_client');
		expect(failure.description).toMatch(/Domain-wide delegation/);
		expect(failure.description).toContain('https://www.googleapis.com/auth/drive');
	});

	test('whose scopes are separated by commas is told to separate them by spaces', async () => {
		const scope = 'https://www.googleapis.com/auth/drive,https://mail.google.com/';
		const { failure } = await refused(tokenWith({ scope }));
		expect(failure.message).toContain('invalid_scope');
		expect(failure.description).toMatch(/'Enabled Scopes' .* separated by spaces/);
	});

	test('on a machine whose clock is wrong is told to set the clock', async () => {
		const error_description =
			'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.';
		const body = { error: 'invalid_grant', error_description };
		google.fault({ match: 'oauth.token', status: 400, body });
		const { failure } = await refused(tokenWith());
		expect(failure.code).toBe(401);
		expect(failure.description).toMatch(/^Set the clock of the machine that n8n runs on/);
	});

	test('never shows its key', async () => {
		const { error, failure } = await refused(tokenWith({ privateKey: 'canary-key' }));
		expect(failure.code).toBe(400);
		expect(failure.cause).toBeUndefined();
		expect(inspect(error)).not.toContain('canary');
	});

	test('says all that it has to say where n8n shows it: in the message, without a code', async () => {
		const { error, failure } = await refused(tokenWith({ privateKey: 'none' }));
		expect(error.message).toBe(`${failure.message}. ${failure.description ?? ''}`);
		expect(error).not.toHaveProperty('code');
	});

	test.each([
		[400, 401, /Check the service account's email and key/],
		[401, 401, /Check the service account's email and key/],
		[200, 503, /Check the Token URL in the credential .* try again/],
		[404, 401, /Check the Token URL/],
		[302, 401, /Check the Token URL/],
		[399, 401, /Check the Token URL/],
		[403, 401, /Check the service account's email and key/],
		[499, 401, /Check the service account's email and key/],
		[500, 503, /Try again later/],
		[408, 503, /Try again later/],
		[429, 503, /Try again later/],
		[503, 503, /Try again later/],
	])('refused with HTTP %d fails with %d, and says what to do', async (status, code, advice) => {
		google.fault({
			match: 'oauth.token',
			status,
			body: { error: 'invalid_grant', error_description: 'No.' },
		});
		const { failure } = await refused(tokenWith());
		expect(failure).toMatchObject({ code });
		expect(failure.description).toMatch(advice);
		expect(failure.message).toBe(
			'Google did not issue a token for the service account (invalid_grant: No.)',
		);
	});
});

test('where people sign in with OAuth2 is what n8n’s own Google credential says', () => {
	const credential = new WorkspaceOAuth2Api();
	expect(credential.extends).toEqual(['googleOAuth2Api']);
	const names = credential.properties.map(({ name }) => name);
	for (const inherited of ['authUrl', 'accessTokenUrl', 'tokenUrl'])
		expect(names).not.toContain(inherited);
});

describe.each([new WorkspaceOAuth2Api(), new WorkspaceServiceAccountApi()])(
	'$name',
	({ properties }) => {
		const defaultScope = properties.find((property) => property.name === 'scope')
			?.default as string;
		const expression = defaultScope.slice('={{'.length, -'}}'.length);
		const askScopes = ($self: object) => runInNewContext(expression, { $self }) as string;
		const toScopes = (names: string[]) =>
			names.map((one) => `https://www.googleapis.com/auth/${one}`);
		const usualMail = ['gmail.send', 'gmail.readonly'];
		const usualDrive = ['drive.file', 'drive.metadata.readonly'];

		test.each(['mailAccess', 'driveAccess'])('shows %s unless scopes are entered', (name) => {
			const field = new WorkspaceOAuth2Api().properties.find((one) => one.name === name);
			expect(field?.displayOptions).toEqual({ show: { customScopes: [false] } });
		});

		test.each([
			['appFiles', ['drive.file']],
			['appFilesAndNames', usualDrive],
			['allFiles', ['drive']],
		])(
			'asks for the scopes of the operations, and of the access to Drive: %s',
			(driveAccess, ofDrive) => {
				const names = [...usualMail, 'spreadsheets', 'documents', ...ofDrive];
				expect(askScopes({ driveAccess }).split(' ')).toEqual(toScopes(names));
				expect(askScopes({ driveAccess, customScopes: true, enabledScopes: 'own' })).toBe(
					'own',
				);
			},
		);

		test.each([
			[undefined, usualMail],
			['sendAndRead', usualMail],
			['draftsToo', [...usualMail, 'gmail.compose']],
			['labelsToo', ['gmail.modify']],
		])('asks for the scopes of the access to Gmail: %s', (mailAccess, ofMail) => {
			const names = [...ofMail, 'spreadsheets', 'documents', ...usualDrive];
			expect(askScopes({ ...(mailAccess && { mailAccess }) }).split(' ')).toEqual(
				toScopes(names),
			);
		});

		test.each([
			['gmail.compose', 'Mail Access', 'Also Save Drafts'],
			['gmail.modify', 'Mail Access', 'Also Save Drafts and Change Labels'],
			['drive', 'Drive Access', 'All Files'],
		])('has the choice that an error names for the scope %s', (scope, label, choice) => {
			const field = properties.find(({ displayName }) => displayName === label);
			expect(field?.options?.map(({ name }) => name)).toContain(choice);
			expect(describeChoiceFor(toScopes([scope])[0] ?? '')).toMatch(
				new RegExp(`^set ${label} to (at least )?${choice}$`),
			);
		});

		test('hides every secret', () => {
			const secrets = properties.filter(({ name: field }) =>
				/key$|^accessToken$/i.test(field),
			);
			for (const secret of secrets) expect(secret.typeOptions?.password).toBe(true);
		});
	},
);
