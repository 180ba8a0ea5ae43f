import { buildSignInSettings } from '../../dev/google/signInRelay';
import { startGoogle, type GoogleServer } from '../../dev/google/server';

let google: GoogleServer;

beforeAll(async () => {
	google = await startGoogle({ pathPrefix: '/gateway' });
});
afterAll(() => google.close());

interface Overwrites {
	readonly workspaceOAuth2Api: { readonly authUrl: string; readonly accessTokenUrl: string };
}

async function readAddresses() {
	const { CREDENTIALS_OVERWRITE_DATA: json = '' } = await buildSignInSettings();
	return (JSON.parse(json) as Overwrites).workspaceOAuth2Api;
}

test('a sign-in goes to the stand-in whose address is the client ID', async () => {
	const { authUrl } = await readAddresses();
	const query = new URLSearchParams({ client_id: google.url, state: 'a b' });
	const answer = await fetch(`${authUrl}?${query.toString()}`, { redirect: 'manual' });
	expect(answer.headers.get('location')).toBe(
		`${google.url}/o/oauth2/v2/auth?${query.toString()}`,
	);
});

test.each([
	['a new token', () => google.tokens.issueRefresh(), 200, 'access_token'],
	['a refusal', () => 'revoked', 400, 'invalid_grant'],
])('a refresh brings %s from there', async (_, issue, status, said) => {
	const { accessTokenUrl } = await readAddresses();
	const body = new URLSearchParams({
		grant_type: 'refresh_token',
		refresh_token: issue(),
		client_id: google.url,
	});
	const answer = await fetch(accessTokenUrl, { method: 'POST', body });
	expect(answer.status).toBe(status);
	expect(await answer.text()).toContain(said);
});
