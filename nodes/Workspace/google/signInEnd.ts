import { createHash } from 'node:crypto';

import { BoundedMap } from '../../core/boundedMap';
import { isRecord } from '../../fields/values';

type CredentialData = Readonly<Record<string, unknown>>;

/** Notice is given in the last two days, in milliseconds. */
const noticeMilliseconds = 48 * 3_600_000;

const seenTokens = new BoundedMap<string, { hash: string; seconds: number; isLeftOver: boolean }>();

/**
 * Whether the seconds are left over from an earlier sign-in, because n8n keeps values that Google's later answers lack. With each token,
 * Google sends a smaller number, so the same number with another token is a leftover.
 */
function isLeftOver(credentialKey: string, accessToken: unknown, seconds: number): boolean {
	const hash = createHash('sha256').update(String(accessToken)).digest('base64');
	const seen = seenTokens.get(credentialKey);
	if (seen?.hash === hash) return seen.isLeftOver;
	seenTokens.set(credentialKey, { hash, seconds, isLeftOver: seen?.seconds === seconds });
	return seen?.seconds === seconds;
}

/**
 * What to tell about a sign-in that ends soon; undefined for one that lasts, or of which nothing is known.
 * Call it at the start of a run, too, so that a token that is refreshed meanwhile is compared with the one before.
 */
export function describeSignInEnd(credentialKey: string, credential: CredentialData, now = Date.now()) {
	const token = isRecord(credential['oauthTokenData']) ? credential['oauthTokenData'] : {};
	const readNumber = (name: string) => Number(token[name] ?? NaN);
	// What Google says where it limits a sign-in. n8n stores it with the token.
	const seconds = readNumber('refresh_token_expires_in');
	if (!Number.isFinite(seconds) || isLeftOver(credentialKey, token['access_token'], seconds))
		return undefined;
	const refreshedAt = readNumber('n8n_expires_at') - readNumber('expires_in') * 1000;
	// Older versions of n8n do not store when the token was refreshed.
	const isExact = Number.isFinite(refreshedAt);
	const end = (isExact ? refreshedAt : now) + seconds * 1000;
	if (end <= now || end >= now + noticeMilliseconds) return undefined;
	const time = `${new Date(end).toISOString().slice(0, 16).replace('T', ' at ')} UTC`;
	return `ends on ${time}${isExact ? '' : ' or earlier'}. Google ends a sign-in after 7 days while the app is in Testing. Publish the app in console.cloud.google.com (Google Auth Platform, Audience, Publish App), then open the credential and sign in again. If you only sign in again, it ends after another 7 days.`;
}

/** When the notice was last logged, by credential. */
const loggedAt = new BoundedMap<string, number>();

/** Whether to log the notice now, at most once in two days. */
export function isNewInLog(credentialKey: string): boolean {
	const isNew = Date.now() - (loggedAt.get(credentialKey) ?? -Infinity) >= noticeMilliseconds;
	if (isNew) loggedAt.set(credentialKey, Date.now());
	return isNew;
}
