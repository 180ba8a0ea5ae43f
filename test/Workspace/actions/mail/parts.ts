// Parts of mails as text, with \n at the end of lines.
export const multipart = (kind: string, ...parts: string[]) =>
	[
		`Content-Type: multipart/${kind}; boundary="${kind}-x"\n`,
		...parts.map((part) => `--${kind}-x\n${part}`),
		`--${kind}-x--`,
	].join('\n');
export const alternative = (...parts: string[]) => multipart('alternative', ...parts);
export const mixed = (...parts: string[]) => multipart('mixed', ...parts);
export const related = (...parts: string[]) => multipart('related', ...parts);
/** A part of any type. @param more lines of its header, each with its end */
export const typed = (type: string, text: string, more = '') =>
	`Content-Type: ${type}\n${more}\n${text}`;
export const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\n\n${text}`;
export const html = (text: string) => `Content-Type: text/html; charset=utf-8\n\n${text}`;
export const file = (name: string, more = '') =>
	`Content-Type: application/octet-stream; name="${name}"\nContent-Transfer-Encoding: base64\n${more}\n${Buffer.from(`bytes of ${name}`).toString('base64')}`;
