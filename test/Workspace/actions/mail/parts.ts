// Parts of mails as text, with \n at the end of lines.
export const multipart = (kind: string, ...parts: string[]) =>
	[
		`Content-Type: multipart/${kind}; boundary="${kind}-x"\n`,
		...parts.map((part) => `--${kind}-x\n${part}`),
		`--${kind}-x--`,
	].join('\n');
export const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\n\n${text}`;
export const html = (text: string) => `Content-Type: text/html; charset=utf-8\n\n${text}`;
export const file = (name: string, more = '') =>
	`Content-Type: application/octet-stream; name="${name}"\nContent-Transfer-Encoding: base64\n${more}\n${Buffer.from(`bytes of ${name}`).toString('base64')}`;
