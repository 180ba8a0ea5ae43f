import { startGoogle, type GoogleServer } from '../../../dev/google/server';
import { isNodeError } from '../../../nodes/core/errors';
import type { Api } from '../../../nodes/Workspace/google/endpoints';
import { createGateFinder, type TransportOptions } from '../../../nodes/Workspace/google/transport';
import { catchFailure } from '../catchFailure';
import { quickGates, testClients } from '../client';

/** Milliseconds, here and at the stand-in. */
const minute = 1500;

test('Google counts reads and writes of Sheets and Docs apart, and those of Gmail and Drive together', () => {
	const limiters = createGateFinder();
	const sharesLimiter = (api: Api) => limiters('c', api, 'GET') === limiters('c', api, 'POST');
	expect((['mail', 'drive', 'sheets', 'docs'] as const).map(sharesLimiter)).toEqual([
		true,
		true,
		false,
		false,
	]);
	expect(limiters('c', 'sheets', 'POST')).toBe(limiters('c', 'sheets', 'PUT'));
	expect(limiters('c', 'sheets', 'GET')).not.toBe(limiters('c', 'docs', 'GET'));
	expect(limiters('c', 'mail', 'GET')).not.toBe(limiters('another', 'mail', 'GET'));
});

let google: GoogleServer;
beforeAll(async () => {
	google = await startGoogle();
});
afterEach(() => {
	google.reset();
});
afterAll(async () => {
	await google.close();
});

function clients(options: Partial<TransportOptions> = {}) {
	const token = google.tokens.issue();
	return testClients(google.url, token, {
		maxRetryWaitMilliseconds: 8 * minute,
		findGate: quickGates(minute),
		...options,
	});
}

function mailbox(count: number): string[] {
	return Array.from({ length: count }, (_, index) =>
		google.gmail.seed({ from: 'a@b.example', subject: `Mail ${index}`, text: 'x' }),
	);
}

test('400 emails under 6,000 units a minute: all come, each once', async () => {
	const ids = mailbox(400);
	google.quotas.limits = { gmail: 6000, minute };
	const { gmail } = clients();
	const answers = await Promise.all(
		ids.map((id) => gmail.users.messages.get({ userId: 'me', id })),
	);
	expect(answers.map(({ data }) => data.id)).toEqual(ids);
	expect(google.requests.filter(({ status }) => status === 200)).toHaveLength(400);
});

test.each([
	['reads', 100, 'sheetsReads'],
	['writes', 100, 'sheetsWrites'],
] as const)('%s: %d under 60 a minute all come', async (kind, count, limit) => {
	const id = google.sheets.seed({ title: 'T', tabs: [{ title: 'A' }] });
	google.quotas.limits = { [limit]: 60, minute };
	const { sheets } = clients();
	const { values } = sheets.spreadsheets;
	await Promise.all(
		Array.from({ length: count }, (_, index) =>
			kind === 'reads'
				? values.get({ spreadsheetId: id, range: 'A1' })
				: values.update({
						spreadsheetId: id,
						range: `A${index + 1}`,
						valueInputOption: 'RAW',
						requestBody: { values: [[index]] },
					}),
		),
	);
	expect(google.requests.filter(({ status }) => status === 200)).toHaveLength(count);
});

test('a quota that stays used up ends with an error that says how long was waited', async () => {
	google.quotas.limits = { gmail: 0, minute };
	const { gmail } = clients({ maxRetryWaitMilliseconds: minute });
	const failure = await catchFailure(gmail.users.messages.list({ userId: 'me' }));
	expect(failure).toMatchObject({ code: 403, outcome: 'notDone' });
	expect(failure.description).toMatch(
		/'maxRetryWaitSeconds' allows 1\.5, of which \d+ have passed/,
	);
});

test('the requests of a credential wait together; another credential does not wait', async () => {
	google.quotas.limits = { gmail: 0, minute };
	const { gmail } = clients({ maxRetryWaitMilliseconds: minute });
	const all = await Promise.allSettled(
		Array.from({ length: 50 }, () => gmail.users.messages.list({ userId: 'me' })),
	);
	expect(all.every(({ status }) => status === 'rejected')).toBe(true);
	expect(all.every((one) => one.status === 'rejected' && isNodeError(one.reason))).toBe(true);
	// One asks for all: without that, each of the fifty would have asked several times.
	expect(google.requests.length).toBeLessThan(25);
	google.quotas.limits = {};
	await clients().gmail.users.messages.list({ userId: 'me' });
});
