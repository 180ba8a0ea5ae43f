import { createHash } from 'node:crypto';

import { BoundedMap } from '../../core/maps';
import { getProperty } from '../../http/networkErrors';

/**
 * How long before the end of a sign-in the notice begins, and how long it is not logged again: two
 * days. Its text may change each minute, because some versions of n8n do not store when a token was
 * issued.
 */
const noticeMilliseconds = 48 * 3_600_000;
/** When the notice of each credential was last logged, in milliseconds of the monotonic clock. */
const noticeTimes = new BoundedMap<string, number>();

/** Logs the notice of a credential, unless that was done in the last two days. */
export function logNotice(credentialKey: string, notice: string, log: (text: string) => void) {
	const now = performance.now();
	if (now - (noticeTimes.get(credentialKey) ?? -Infinity) < noticeMilliseconds) return;
	noticeTimes.set(credentialKey, now);
	log(notice);
}

/** The last token of each credential, as a hash, and the seconds that n8n stores next to it. */
const lastTokens = new BoundedMap<
	string,
	{ hash: string; seconds: number; areOutdated: boolean }
>();

/**
 * Remembers a token. Returns whether the seconds next to it belong to an earlier sign-in: n8n keeps
 * them if Google's later responses have none. Google sends fewer seconds with each new token, so
 * the same number as for the last token is outdated.
 */
function rememberToken(credentialKey: string, token: unknown, seconds: number): boolean {
	// No token stays in memory.
	const hash = createHash('sha256').update(String(token)).digest('base64');
	const last = lastTokens.get(credentialKey);
	if (last?.hash === hash) return last.areOutdated;
	const areOutdated = last?.seconds === seconds;
	lastTokens.set(credentialKey, { hash, seconds, areOutdated });
	return areOutdated;
}

/**
 * Describes when a sign-in ends and what to do, as the end of a sentence about the sign-in. Returns
 * undefined if it does not end soon, or if its end is not known. Remembers the token, to compare it
 * with the next one.
 */
export function describeSignInEnd(
	credentialKey: string,
	credential: Readonly<Record<string, unknown>>,
	now = Date.now(),
) {
	const read = (name: string) => getProperty(credential['oauthTokenData'], name);
	const readNumber = (name: string) => Number(read(name) ?? NaN);
	// Google sends this field only if it limits the sign-in. n8n stores it with the token.
	const seconds = readNumber('refresh_token_expires_in');
	if (!Number.isFinite(seconds)) return undefined;
	if (rememberToken(credentialKey, read('access_token'), seconds)) return undefined;
	// Older versions of n8n do not store when the token was refreshed.
	const refreshedAt = readNumber('n8n_expires_at') - readNumber('expires_in') * 1000 || now;
	const endTime = refreshedAt + seconds * 1000;
	if (endTime <= now || endTime >= now + noticeMilliseconds) return undefined;
	const timeText = new Date(endTime).toISOString().slice(0, 16).replace('T', ' at ');
	return `ends on ${timeText} UTC or earlier. Google ends a sign-in after 7 days while the app is in Testing. Publish the app in console.cloud.google.com (Google Auth Platform, Audience, Publish App), then open the credential and sign in again. If you only sign in again, it ends after another 7 days.`;
}
