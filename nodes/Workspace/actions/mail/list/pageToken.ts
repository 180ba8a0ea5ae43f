/** Parses a page token: Gmail's own ('' for the first page), or ours. For example, `12@abc` skips 12 emails from the page `abc` on. */
export function parsePageToken(pageToken: string) {
	const [, skipCount = '0', gmailPageToken = pageToken] = /^(\d+)@(.*)$/s.exec(pageToken) ?? [];
	return { gmailPageToken, skipCount: Number(skipCount) };
}

/** Builds the page token that skips this many emails from a page on. Without emails to skip, the result is Gmail's own token. */
export const buildPageToken = (skipCount: number, gmailPageToken = '') =>
	skipCount === 0 ? gmailPageToken : `${skipCount}@${gmailPageToken}`;
