// The live test, against the stand-ins instead of a user's accounts.
import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { buildEndpoints } from '../../dev/google/credential.ts';
import { type GoogleServer, startGoogle } from '../../dev/google/server.ts';
import { factsOf } from '../../dev/live/facts.ts';
import { GoogleAccount } from '../../dev/live/googleAccount.ts';
import { reportOf } from '../../dev/live/report.ts';
import { runLive } from '../../dev/live/run.ts';
import { liveSettings, secretsOf, type LiveSettings } from '../../dev/live/settings.ts';
import { useSharedN8n, type SharedN8n } from './startTestN8n';

const apiKey = 'live-canary-api-key';

let agent: AgentService;
let google: GoogleServer;
let n8n: SharedN8n;
let settings: LiveSettings;

beforeAll(async () => {
	agent = await startAgentService({ apiKey, messages: () => [{ text: 'hello' }] });
	google = await startGoogle({ tolerant: true });
	n8n = await useSharedN8n();
	settings = liveSettings('/nowhere/live.json', {
		LIVE_AGENT_API: JSON.stringify({
			deploymentUrl: agent.url,
			webSocketUrl: agent.webSocketUrl,
			apiKey,
		}),
		LIVE_AGENT_SIGNATURE_API: JSON.stringify({
			userId: '0xlive-user-canary',
			userPublicKey: '0xlive-key-canary',
			signature: '0xlive-signature-canary',
		}),
		LIVE_WORKSPACE_OAUTH2_API: JSON.stringify({
			...buildEndpoints(google.url),
			clientId: 'stand-in-client',
			clientSecret: 'live-canary-secret',
			refreshToken: google.tokens.issueRefresh(),
		}),
	});
});
afterAll(async () => {
	await google.close();
	await agent.close();
});

test('runs the nodes and all operations, asks its questions, and reports without secrets', async () => {
	const report = await runLive(n8n.api, settings);
	expect(report.outcomes.filter(({ result }) => result !== 'done')).toEqual([]);
	expect(report.outcomes).toHaveLength(16);
	// The stand-in does what the facts claim. It cannot answer what nobody knows.
	expect(report.facts.filter(({ verdict }) => verdict === 'WRONG')).toEqual([]);
	expect(
		report.facts.filter(({ verdict }) => verdict === 'unclear').map(({ claim }) => claim),
	).toEqual(['Is developer metadata with an ID that is already used refused?']);
	expect(report.facts.map(({ verdict }) => verdict)).toContain('right');

	// All of it stands at the service under the prefix, and is listed.
	const files = google.files.listAll().map(({ name }) => name);
	expect(files.length).toBeGreaterThanOrEqual(6);
	expect(files.filter((name) => !name.startsWith(report.prefix))).toEqual([]);
	expect(report.made).toHaveLength(files.length + google.gmail.sent.length);

	const secrets = secretsOf(settings);
	const page = reportOf(report, secrets, { n8n: 'tested' });
	expect(page).toContain('| Mail: Send | done |');
	expect(page).toContain('16 done, 0 failed, 0 not run');
	expect(page).toContain('| An unquoted Q1 is a cell even if a tab has that name. |');
	for (const secret of secrets) expect(page).not.toContain(secret);
	expect(page).not.toContain(google.url);
});

test('a refused operation is in the report with its reason, and its followers are not run', async () => {
	google.fault({
		match: 'docs.documents.create',
		status: 403,
		message: 'No key live-canary-secret',
	});
	google.fault({
		match: 'drive.files.create',
		status: 403,
		message: 'No key live-canary-secret',
		times: 2,
	});
	const report = await runLive(n8n.api, { workspaceOAuth2Api: settings.workspaceOAuth2Api });
	google.heal();
	const results = new Map(report.outcomes.map(({ name, result }) => [name, result]));
	expect(results.get('Agent Execute')).toBe('not run');
	expect(results.get('Document: Create')).toBe('failed');
	expect(results.get('Document: Read')).toBe('not run');
	expect(results.get('Mail: Send')).toBe('done');
	const page = reportOf(report, secretsOf(settings), {});
	expect(page).toMatch(/\| Document: Create \| failed \| \d+ \| .+ \|/);
	expect(page).not.toContain('live-canary-secret');
});

test('a fact that is wrong is found and named', async () => {
	const { workspaceOAuth2Api } = settings;
	if (workspaceOAuth2Api === undefined) throw new Error('no Google credentials');
	const account = await GoogleAccount.signIn(workspaceOAuth2Api);
	const ask = factsOf(account, 'n8n live test wrong', []);
	google.fault({ match: 'gmail.users.messages.get', nth: 2, status: 410, message: 'Gone' });
	const wrong = (await ask).filter(({ verdict }) => verdict === 'WRONG');
	google.heal();
	expect(wrong).toEqual([
		expect.objectContaining({
			claim: 'An email that does not exist is 404 with the reason notFound.',
		}),
	]);
});

test('without any account it says what to do, and quotes no secret of a file that is not valid', () => {
	expect(() => liveSettings('/nowhere/live.json', {})).toThrow(
		'There are no accounts to test with',
	);
	const broken = { LIVE_AGENT_API: '{ "apiKey": "live-canary-api-key"' };
	expect(() => liveSettings('/nowhere/live.json', broken)).toThrow(
		'LIVE_AGENT_API is not valid JSON.',
	);
});
