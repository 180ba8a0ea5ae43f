import { generateKeyPairSync, sign } from 'node:crypto';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let google: GoogleServer;
let token: string;

beforeAll(async () => {
	google = await startGoogle({
		pathPrefix: '/prefix',
		users: ['someone@example.com', 'other@example.com'],
		serviceAccounts: [
			{
				email: 'robot@project.example',
				publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
				delegates: ['someone@example.com'],
			},
		],
	});
});
beforeEach(() => {
	google.reset();
	token = google.tokens.issue();
});
afterAll(() => google.close());

interface Envelope {
	readonly error: {
		readonly code: number;
		readonly status?: string;
		readonly errors?: ReadonlyArray<{ readonly reason: string }>;
		readonly details?: ReadonlyArray<{ readonly reason: string }>;
	};
}

async function get(path: string, bearer: string | undefined = token): Promise<Response> {
	return await fetch(google.url + path, {
		headers: bearer ? { Authorization: `Bearer ${bearer}` } : {},
	});
}

async function post(path: string, body: unknown): Promise<Response> {
	return await fetch(google.url + path, {
		method: 'POST',
		headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
	});
}

async function errorOf(answer: Response): Promise<Envelope['error']> {
	return ((await answer.json()) as Envelope).error;
}

async function tokenEndpoint(
	form: Record<string, string>,
): Promise<{ status: number; body: Record<string, string> }> {
	const answer = await fetch(`${google.url}/token`, {
		method: 'POST',
		body: new URLSearchParams(form),
	});
	return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

describe('the contract', () => {
	it.each([
		['an unknown parameter', '/drive/v3/files?limit=3', "unknown query parameter 'limit'"],
		['a repeated parameter', '/drive/v3/files?q=a&q=b', "query parameter 'q' is repeated"],
		['a wrong type', '/drive/v3/files?pageSize=many', "query parameter 'pageSize' is 'many'"],
		[
			'a value outside its list',
			'/gmail/v1/users/me/messages/1?format=FULL',
			"'format' is 'FULL'",
		],
		['a path that Google does not have', '/v1/sheets', 'not in the contract'],
	])('is broken by %s', async (_what, path, words) => {
		expect((await get(path)).status).toBe(599);
		expect(google.violations).toEqual([expect.stringContaining(words)]);
		expect(() => {
			expectNoViolations(google);
		}).toThrow(words);
	});

	it('is broken by a key that a body does not have', async () => {
		expect((await post('/v1/documents', { titel: 'x' })).status).toBe(599);
		expect(google.violations).toEqual([expect.stringContaining("'titel'")]);
	});

	it('is broken by a path that cannot be decoded', async () => {
		await expect(get('/v1/documents/%E0%A4%A')).rejects.toThrow();
		expect(google.violations).toEqual([expect.stringContaining('URI malformed')]);
	});

	it('finds verbs after a colon before plain paths, and keeps encoded ones in ids', async () => {
		await post('/v1/documents/a%3AbatchUpdate:batchUpdate', { requests: [] });
		expect(google.requests.map(({ method }) => method)).toEqual(['docs.documents.batchUpdate']);
		await get('/drive/v3/files/generateIds');
		expect(google.requests.at(-1)?.method).toBe('drive.files.generateIds');
		expectNoViolations(google);
	});
});

describe('sign-in', () => {
	it.each([
		['drive', '/drive/v3/files', 403],
		['sheets', '/v4/spreadsheets/x', 403],
		['docs', '/v1/documents/x', 401],
		['gmail', '/gmail/v1/users/me/messages', 401],
	])('%s: no token, bad token, missing scope', async (_family, path, withoutToken) => {
		expect((await get(path, '')).status).toBe(withoutToken);
		expect(await errorOf(await get(path, 'nonsense'))).toMatchObject({
			code: 401,
			status: 'UNAUTHENTICATED',
		});
		const narrow = google.tokens.issue({ scopes: ['calendar'] });
		const error = await errorOf(await get(path, narrow));
		expect(error).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
		expect(error.details?.[0]?.reason).toBe('ACCESS_TOKEN_SCOPE_INSUFFICIENT');
	});

	it('words errors by family', async () => {
		const [drive, docs, gmail] = await Promise.all(
			[
				'/drive/v3/files/nothing',
				'/v1/documents/nothing',
				'/gmail/v1/users/me/messages/18c0ffee',
			].map(async (path) => await errorOf(await get(path))),
		);
		expect(drive).toMatchObject({ code: 404, errors: [{ reason: 'notFound' }] });
		expect(drive).not.toHaveProperty('status');
		expect(docs).toMatchObject({ code: 404, status: 'NOT_FOUND' });
		expect(docs).not.toHaveProperty('errors');
		expect(gmail).toMatchObject({
			code: 404,
			status: 'NOT_FOUND',
			errors: [{ reason: 'notFound' }],
		});
	});

	it('ends tokens', async () => {
		google.tokens.expire(token);
		expect((await get('/drive/v3/files')).status).toBe(401);
	});

	it('gives a code on the consent page, tokens for the code, and new tokens for the refresh token', async () => {
		const query = new URLSearchParams({
			client_id: 'client',
			redirect_uri: 'http://127.0.0.1:1/callback',
			response_type: 'code',
			scope: 'https://www.googleapis.com/auth/drive.file',
			state: 'state',
		});
		const page = await (
			await fetch(`${google.url}/o/oauth2/v2/auth?${query.toString()}`)
		).text();
		expect(page).toContain('other@example.com');
		const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? '';
		const allowed = await fetch(new URL(action, google.url), {
			method: 'POST',
			redirect: 'manual',
			body: new URLSearchParams({ ...Object.fromEntries(query), email: 'other@example.com' }),
		});
		const back = new URL(allowed.headers.get('location') ?? '');
		expect(back.searchParams.get('state')).toBe('state');
		const form = {
			grant_type: 'authorization_code',
			code: back.searchParams.get('code') ?? '',
			client_id: 'client',
			client_secret: 'secret',
			redirect_uri: 'http://127.0.0.1:1/callback',
		};
		const { body } = await tokenEndpoint(form);
		expect(google.tokens.find(body['access_token'] ?? '')).toMatchObject({
			user: 'other@example.com',
			clientId: 'client',
			scopes: ['https://www.googleapis.com/auth/drive.file'],
		});
		expect((await tokenEndpoint(form)).body['error']).toBe('invalid_grant');

		const refreshToken = body['refresh_token'] ?? '';
		const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken };
		const refreshed = await tokenEndpoint(refresh);
		expect(google.tokens.find(refreshed.body['access_token'] ?? '')?.user).toBe(
			'other@example.com',
		);
		google.tokens.revoke(refreshToken);
		expect(await tokenEndpoint(refresh)).toMatchObject({
			status: 400,
			body: { error: 'invalid_grant' },
		});
	});

	it('tells at each refresh when the sign-in of an app in Testing ends, and ends it', async () => {
		const ends = (seconds: number) => {
			const refresh_token = google.tokens.issueRefresh({
				endsAt: Date.now() + seconds * 1000,
			});
			return tokenEndpoint({ grant_type: 'refresh_token', refresh_token });
		};
		const { body } = await ends(604_800);
		expect(Number(body['refresh_token_expires_in'])).toBeLessThan(604_800);
		expect(Number(body['refresh_token_expires_in'])).toBeGreaterThan(604_700);
		expect(await ends(-1)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
	});

	it('takes the signed assertion of a service account', async () => {
		const now = Math.floor(Date.now() / 1000);
		const assertion = (claims: object) => {
			const parts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
				Buffer.from(JSON.stringify(part)).toString('base64url'),
			);
			const signature = sign('RSA-SHA256', Buffer.from(parts.join('.')), privateKey).toString(
				'base64url',
			);
			return [...parts, signature].join('.');
		};
		const claims = {
			iss: 'robot@project.example',
			scope: 'https://www.googleapis.com/auth/drive',
			aud: `${google.url}/token`,
			iat: now,
			exp: now + 3600,
		};
		const ask = async (more: object) =>
			await tokenEndpoint({
				grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
				assertion: assertion({ ...claims, ...more }),
			});
		const { body } = await ask({ sub: 'someone@example.com' });
		expect(google.tokens.find(body['access_token'] ?? '')?.user).toBe('someone@example.com');
		expect(await ask({ sub: 'stranger@example.com' })).toMatchObject({
			status: 401,
			body: { error: 'unauthorized_client' },
		});
		for (const wrong of [{ exp: now - 10 }, { aud: 'elsewhere' }, { iss: 'x' }]) {
			expect(await ask(wrong)).toMatchObject({
				status: 400,
				body: { error: 'invalid_grant' },
			});
		}
	});
});

describe('faults', () => {
	const list = '/drive/v3/files';
	const create = async () => await post('/v1/documents', { title: 'T' });

	it('answers in the envelope of the family, for the requests that are named', async () => {
		google.fault({ match: 'drive.files.list', nth: 2, times: 2, status: 429, retryAfter: 7 });
		const answers = [];
		for (let count = 0; count < 4; count++) answers.push(await get(list));
		expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 200]);
		expect(answers[1]?.headers.get('retry-after')).toBe('7');
		google.fault({
			match: ({ path }) => path.startsWith('/v1/'),
			status: 403,
			reason: 'rateLimitExceeded',
		});
		expect((await errorOf(await get('/v1/documents/x'))).details?.[0]?.reason).toBe(
			'RATE_LIMIT_EXCEEDED',
		);
	});

	it('resets before and after the work', async () => {
		google.fault({ match: 'docs.documents.create', connection: 'resetBefore' });
		await expect(create()).rejects.toThrow();
		expect(google.files.listAll()).toHaveLength(0);
		google.fault({ match: 'docs.documents.create', connection: 'resetAfter' });
		await expect(create()).rejects.toThrow();
		expect(google.files.listAll()).toHaveLength(1);
		google.fault({ match: 'docs.documents.create', status: 503, carriedOut: true });
		expect((await create()).status).toBe(503);
		expect(google.files.listAll()).toHaveLength(2);
	});

	it('never answers, drips, or cuts an answer', async () => {
		google.fault({ match: 'drive.files.list', connection: 'blackHole' });
		const waiting = fetch(google.url + list, {
			headers: { Authorization: `Bearer ${token}` },
			signal: AbortSignal.timeout(100),
		});
		await expect(waiting).rejects.toThrow(/timeout/i);
		google.fault({ match: 'drive.files.list', connection: 'slowDrip', dripMilliseconds: 1 });
		expect(await (await get(list)).json()).toMatchObject({ files: [] });
		google.fault({ match: 'drive.files.list', connection: 'cutBody' });
		await expect((await get(list)).text()).rejects.toThrow();
	});

	it('answers with what is no envelope at all', async () => {
		google.fault({ status: 502, body: '<html>Bad Gateway</html>' });
		const answer = await get(list);
		expect([answer.status, await answer.text()]).toEqual([502, '<html>Bad Gateway</html>']);
	});
});

it('logs what came in', async () => {
	await post('/v1/documents?fields=documentId', { title: 'T' });
	expect(google.requests).toMatchObject([
		{
			method: 'docs.documents.create',
			httpMethod: 'POST',
			path: '/v1/documents',
			body: { title: 'T' },
			status: 200,
			token,
		},
	]);
	expect(google.requests[0]?.query.get('fields')).toBe('documentId');
});
