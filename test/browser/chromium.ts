import { existsSync } from 'node:fs';
import { type BrowserContext, chromium } from 'playwright-core';

import { owner } from '../../dev/n8n/n8nApi.ts';

/** Milliseconds. Playwright's 30 s would be a timed assertion on a busy machine; jest's own limit for a test stays. */
export const patience = 300_000;

/** Chromium that talks to loopback only, without a look at the network outside. */
export async function openBrowser(profile: string, debuggingPort: number): Promise<BrowserContext> {
	const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((candidate) =>
		existsSync(candidate),
	);
	if (executablePath === undefined) throw new Error('chromium is not installed');
	const context = await chromium.launchPersistentContext(profile, {
		executablePath,
		timeout: patience,
		args: [
			'--no-sandbox',
			'--disable-quic',
			'--disable-background-networking',
			'--disable-component-update',
			'--lang=en-US',
			// A person's: n8n ignores what a bot clicks in a message that asks for approval, and takes a browser without a
			// window for one.
			'--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
			'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
			`--remote-debugging-port=${debuggingPort}`,
		],
	});
	context.setDefaultTimeout(patience);
	return context;
}

/** Signs in to n8n's editor as the owner. */
export async function signIn(context: BrowserContext, url: string): Promise<void> {
	const page = await context.newPage();
	await page.goto(`${url}/signin`);
	await page
		.locator('input[autocomplete="email"], input[name="emailOrLdapLoginId"]')
		.first()
		.fill(owner.email);
	await page.locator('input[type="password"]').first().fill(owner.password);
	await page.getByRole('button', { name: /sign in/i }).click();
	await page.waitForURL((target) => !target.pathname.includes('signin'));
	await page.close();
}
