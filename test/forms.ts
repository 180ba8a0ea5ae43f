/** How a server may repeat what was sent to it. */
export const forms: Readonly<Record<string, (secret: string) => string>> = {
	plain: (secret) => secret,
	invisible: (secret) => Array.from(secret).join('\u{E0041}'),
	percent: (secret) => encodeURIComponent(secret),
	base64: (secret) => Buffer.from(secret).toString('base64'),
	base64Within: (secret) => Buffer.from(`user:${secret}!`).toString('base64'),
	base64url: (secret) => Buffer.from(secret).toString('base64url'),
	hex: (secret) => Buffer.from(secret).toString('hex'),
	json: (secret) => JSON.stringify(secret),
	cut: (secret) => `${secret.slice(0, 14)}…`,
};

/** All of them, on two lines. */
export const inAllForms = (secret: string) =>
	Object.values(forms)
		.map((form) => form(secret))
		.join('\n');

/** Which of the forms stand in a text, the beginnings of the longer ones included. */
export function formsIn(text: string, secret: string): string[] {
	return Object.entries(forms).flatMap(([name, form]) =>
		text.includes(form(secret).slice(0, 14)) ? [name] : [],
	);
}
