import type { GoogleServer } from '../../../dev/google/server';
import { isNodeError } from '../../../nodes/core/errors';
import type { Api } from '../../../nodes/Workspace/google/endpoints';
import { createGateFinder, type TransportOptions } from '../../../nodes/Workspace/google/transport';
import { catchFailure } from '../catchFailure';
import { quickGates, testClients } from '../client';
import { StandIn } from '../standIn';

/** Milliseconds, here and at the stand-in. */
const minute = 1500;

test('Google counts reads and writes of Sheets and Docs apart, and those of Gmail and Drive together', () => {
	const limiters = createGateFinder();
	const apis = ['mail', 'drive', 'sheets', 'docs'] as const;
	const sharesLimiter = (api: Api) => limiters('c', api, 'GET') === limiters('c', api, 'POST');
	expect(apis.filter(sharesLimiter)).toEqual(['mail', 'drive']);
	expect(limiters('c', 'sheets', 'POST')).toBe(limiters('c', 'sheets', 'PUT'));
	expect(limiters('c', 'sheets', 'GET')).not.toBe(limiters('c', 'docs', 'GET'));
	expect(limiters('c', 'mail', 'GET')).not.toBe(limiters('another', 'mail', 'GET'));
});

const standIn = new StandIn();
let google: GoogleServer;
beforeEach(() => {
	google = standIn.google;
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
	expect(all.every((one) => one.status === 'rejected' && isNodeError(one.reason))).toBe(true);
	// One asks for all: without that, each of the fifty would have asked several times.
	expect(google.requests.length).toBeLessThan(25);
	google.quotas.limits = {};
	await clients().gmail.users.messages.list({ userId: 'me' });
});
