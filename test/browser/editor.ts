import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page, selectors } from 'playwright-core';

import { owner } from '../../dev/n8n/rest.ts';

/** Where a failing test leaves what the user would have seen. */
export const pictures = path.join(__dirname, '..', '..', '.dev', 'pictures');

export async function launchBrowser(): Promise<Browser> {
	const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((candidate) =>
		existsSync(candidate),
	);
	if (executablePath === undefined) throw new Error('chromium is not installed');
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({
		executablePath,
		args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update'],
	});
}

/** n8n's editor, signed in as the owner; it talks to loopback only. */
export async function signIn(browser: Browser, url: string): Promise<Page> {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
	await page.route(
		(target) => target.hostname !== '127.0.0.1' && target.protocol.startsWith('http'),
		(route) => route.abort(),
	);
	await page.goto(`${url}/signin`);
	await page
		.locator('input[autocomplete="email"], input[name="emailOrLdapLoginId"]')
		.first()
		.fill(owner.email);
	await page.locator('input[type="password"]').first().fill(owner.password);
	await page.getByRole('button', { name: /sign in/i }).click();
	await page.waitForURL((target) => !target.pathname.includes('signin'));
	return page;
}
