import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';

let google: GoogleServer;
let token: string;

beforeAll(async () => {
	google = await startGoogle({ pathPrefix: '/prefix' });
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
		expect(google.violations).toEqual([expect.stringContaining('titel')]);
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
});
