import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { buildSignedInCredential } from '../../../dev/google/credential';
import { describeSignInEnd } from '../../../nodes/Workspace/google/signInEnd';
import { Workspace } from '../../../nodes/Workspace/Workspace.node';
import { createExecuteContext } from '../../createExecuteContext';
import { StandIn } from '../standIn';

const hour = 3600;
const now = Date.parse('2026-11-24T12:00:00Z');

/** A token as n8n stores it, refreshed half an hour ago. */
const tokenOf = (secondsLeft: unknown, more: object = {}) => ({
	access_token: randomUUID(),
	expires_in: 3599,
	n8n_expires_at: String(now + 1799_000),
	refresh_token_expires_in: secondsLeft,
	...more,
});
const describeEnd = (oauthTokenData: unknown, key: string = randomUUID()) =>
	describeSignInEnd(key, { oauthTokenData }, now);

describe('a sign-in that ends', () => {
	test.each([
		[47 * hour, 'ends on 2026-11-26 at 10:30 UTC or earlier. Google ends'],
		['3600', 'ends on 2026-11-24 at 12:30 UTC or earlier. Google ends'],
	])('within two days is told: %j seconds left', (left, words) => {
		expect(describeEnd(tokenOf(left))).toContain(words);
	});

	test.each([
		['later', tokenOf(48.6 * hour)],
		['never', tokenOf(undefined)],
		['in a way that is unknown', tokenOf('soon')],
		['in the past, as is proved wrong by a run', tokenOf(1000)],
		['of a credential that was never connected', undefined],
		['of one that n8n does not show', true],
	])('%s is not', (_when, token) => {
		expect(describeEnd(token)).toBeUndefined();
	});

	test('of an n8n that does not say when it was refreshed, the end is the latest possible one', () => {
		const token = tokenOf(hour, { n8n_expires_at: undefined });
		expect(describeEnd(token)).toContain('ends on 2026-11-24 at 13:00 UTC or earlier. Google');
	});

	test('is told with each token whose seconds have fallen', () => {
		const key = randomUUID();
		for (const left of [30 * hour, 29 * hour, 28 * hour]) {
			const token = tokenOf(left);
			for (const again of [token, token]) expect(describeEnd(again, key)).toBeDefined();
		}
	});

	test('is not told where n8n kept the seconds of the sign-in before: they are the same with the next token', () => {
		const key = randomUUID();
		expect(describeEnd(tokenOf(30 * hour), key)).toBeDefined();
		const kept = tokenOf(30 * hour);
		for (const token of [kept, kept, tokenOf(30 * hour)])
			expect(describeEnd(token, key)).toBeUndefined();
		expect(describeEnd(tokenOf(20 * hour), key)).toBeDefined();
	});
});

describe('the node', () => {
	const standIn = new StandIn();

	/** As signed in with an app in Testing so long ago that the sign-in has this many seconds left. */
	function contextWith(secondsLeft: number | undefined, more: IDataObject = {}) {
		const { google } = standIn;
		const endsAt = secondsLeft === undefined ? undefined : Date.now() + secondsLeft * 1000;
		const accessToken = google.tokens.issue();
		const refreshToken = google.tokens.issueRefresh({ endsAt });
		const credential = buildSignedInCredential(google.url, { accessToken, refreshToken });
		const context = createExecuteContext({
			nodeType: new Workspace(),
			oAuth2: true,
			credentials: {
				workspaceOAuth2Api: {
					...credential,
					grantType: 'authorizationCode',
					authentication: 'body',
					accessTokenUrl: `${google.url}/token`,
					oauthTokenData: {
						...(credential['oauthTokenData'] as IDataObject),
						expires_in: 3599,
						n8n_expires_at: String(Date.now() + 3_599_000),
						...(secondsLeft !== undefined && { refresh_token_expires_in: secondsLeft }),
						...more,
					},
				},
			},
			parameters: { resource: 'mail', operation: 'list', options: {} },
		});
		const warn = jest.spyOn(context.logger, 'warn').mockReturnValue(undefined);
		const run = async () => {
			await new Workspace().execute.call(context);
			return context.hints.filter(({ message }) => message.includes('sign-in'));
		};
		return { run, warn };
	}

	test.each([
		['says', {}],
		['does not say', { n8n_expires_at: undefined }],
	])(
		'has a hint, and n8n’s log a line once per credential, if n8n %s when the token was refreshed',
		async (_says, more) => {
			const { run, warn } = contextWith(30 * hour, more);
			const [hint] = await run();
			expect(hint).toMatchObject({
				type: 'warning',
				message: expect.stringMatching(
					/^The Google sign-in of "workspaceOAuth2Api" ends on .* Publish the app in .* sign in again/,
				) as string,
			});
			const later = Date.now() + 600_000;
			const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
			expect(await run()).toHaveLength(2);
			clock.mockRestore();
			const lines = warn.mock.calls.filter(([line]) => line.includes('sign-in'));
			expect(lines).toEqual([
				[expect.stringMatching(/^The Google sign-in of "workspaceOAuth2Api" ends on /)],
			]);
			warn.mockRestore();
		},
	);

	test('writes no further line into n8n’s log with the next token of a credential', async () => {
		const { run, warn } = contextWith(30 * hour, { refresh_token_expires_in: 31 * hour });
		expect(await run()).toHaveLength(1);
		standIn.google.tokens.expire();
		// Only the third run begins with the token that the second one gets.
		await run();
		expect(await run()).toHaveLength(3);
		expect(warn.mock.calls.filter(([line]) => line.includes('sign-in'))).toHaveLength(1);
		warn.mockRestore();
	});

	test('has none from the next run on where Google says nothing at a refresh: the app was published, and n8n kept the old seconds', async () => {
		const { run, warn } = contextWith(undefined, { refresh_token_expires_in: 20 * hour });
		standIn.google.tokens.expire();
		// The hints of both runs.
		expect(await run()).toHaveLength(1);
		expect(await run()).toHaveLength(1);
		expect(warn).toHaveBeenCalledTimes(1);
		warn.mockRestore();
	});
});
