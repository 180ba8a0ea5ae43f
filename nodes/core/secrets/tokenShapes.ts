/** Replaces a secret in a text. */
export const mask = '•••';

/**
 * Masks anything that looks like a secret of any owner: keys in PEM, Google's tokens, client secrets and
 * API keys, JSON web tokens, what follows `Bearer`, user names and passwords in addresses, and values of
 * parameters, keys and headers that carry secrets.
 */
export function withoutTokens(text: string): string {
	return text
		.replace(/-----BEGIN [A-Z ]{0,40}-----[\s\S]*?(?:-----END [A-Z ]{0,40}-----|$)/g, mask)
		.replace(/\b(?:ya29\.|1\/\/|GOCSPX-|AIza)[\w.\-/]{8,}/g, mask)
		.replace(/\beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?/g, mask)
		.replace(
			/\b(Bearer|Basic|Digest)(\s+|%20|\+)(?=[^\s"'<>,;]*\d|[^\s"'<>,;]{16})[^\s"'<>,;]+/gi,
			`$1$2${mask}`,
		)
		.replace(/(\/\/)[^\s/@]*@/g, `$1${mask}@`)
		.replace(namedValue, `$1${mask}`);
}

const names =
	'x?[-_]?api[-_]?key|signature|user[-_]?public[-_]?key|client[-_]?secret|private[-_]?key|assertion|(?:access|refresh|id|auth)[-_]?token|password';
const namedValue = new RegExp(
	String.raw`((?:${names})(?:=|%3D|\\?["']\s{0,4}:\s{0,4}\\?["']))[^\s&"'\\]+`,
	'gi',
);
