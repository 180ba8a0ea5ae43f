// `npm run pictures`: creates the pictures in docs/images, of this version in the real n8n; `npm run pictures -- FILE …`: only those of
// these examples.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page, selectors } from 'playwright-core';

import { startAgentService } from './agent-service/server.ts';
import { importExamples } from './examples.ts';
import { formPictures } from './formPictures.ts';
import { seedDemo } from './google/demo.ts';
import { startGoogle } from './google/server.ts';
import { root } from './n8n/host.ts';
import { owner } from './n8n/rest.ts';
import { startN8n } from './n8n/server.ts';
import { Template } from './n8n/template.ts';

const images = path.join(root, 'docs', 'images');
const apiKey = 'pictures';
const chosen = process.argv.slice(2);
const whole = { x: 0, y: 0, width: 1280, height: 720 };

/** The view of a person who has made room: no sidebars, and the whole workflow. */
const undecorated =
	'[data-test-id="canvas-controls"], [data-test-id="logs-panel"], [class*="sidebar" i], [data-test-id="canvas-minimap"], [data-test-id^="execute-workflow-button-"], [class*="nodeButtonsWrapper"], [class*="NodeButtonsWrapper"] { visibility: hidden }';

async function main(): Promise<void> {
	await mkdir(images, { recursive: true });
	const template = new Template('images');
	await template.prepare();
	const agent = await startAgentService({ apiKey });
	const google = await startGoogle();
	seedDemo(google);
	// The address that a form shows is the one that a newcomer's n8n has.
	const env = { N8N_EDITOR_BASE_URL: 'http://localhost:5678', WEBHOOK_URL: 'http://localhost:5678' };
	const n8n = await startN8n({ userFolder: template.folder, env });
	const profile = await mkdtemp(path.join(tmpdir(), 'chromium-'));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: '/usr/bin/chromium',
		viewport: { width: 1280, height: 720 },
		args: ['--no-sandbox', '--lang=en-US', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
	});
	try {
		const examples = await importExamples(n8n.api, {
			agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
			google: {
				url: google.url,
				accessToken: google.tokens.issue(),
				refreshToken: google.tokens.issueRefresh(),
			},
		});
		selectors.setTestIdAttribute('data-test-id');
		const page = await signedIn(await context.newPage(), n8n.url);
		const wanted = examples.filter(({ file }) => chosen.length === 0 || chosen.includes(file));
		for (const { workflow, file } of wanted) {
			await page.goto(`${n8n.url}/workflow/${workflow.id}`);
			await page.getByTestId('canvas-node').nth(1).waitFor();
			await page.getByTestId('zoom-to-fit').click();
			await page.addStyleTag({ content: undecorated });
			await page.mouse.move(5, 5);
			// The zoom is animated.
			await page.waitForTimeout(1000);
			while (await isCovered(page)) {
				// The controls are hidden.
				await page.getByTestId('zoom-out-button').dispatchEvent('click');
				await page.waitForTimeout(1000);
			}
			const target = path.join(images, file.replace(/\.json$/, '.png'));
			const { x, y, width, height } = (await page.getByTestId('canvas').boundingBox()) ?? whole;
			// Tabs of the editor reach into the canvas.
			await page.screenshot({ path: target, clip: { x, y: y + 20, width, height: height - 20 } });
			console.log(path.relative(root, target));
		}
		if (chosen.length === 0) await formPictures(page, n8n, google, images);
	} finally {
		await context.close();
		await n8n.stop();
		await google.close();
		await agent.close();
		await rm(profile, { recursive: true, force: true });
		await rm(path.dirname(template.folder), { recursive: true, force: true });
	}
}

/** Whether the button that starts the workflow lies over a node or its name. */
async function isCovered(page: Page): Promise<boolean> {
	const buttons = page.getByTestId('execute-workflow-button').or(page.getByTestId('workflow-chat-button'));
	const button = (await buttons.count()) > 0 ? await buttons.first().boundingBox() : null;
	if (!button) return false;
	for (const node of await page.getByTestId('canvas-node').all()) {
		const box = await node.boundingBox();
		if (!box) continue;
		// Two lines of a name stand below a node.
		const bottom = box.y + box.height * 1.5;
		const beside = box.x - box.width / 2 > button.x + button.width || box.x + box.width * 1.5 < button.x;
		if (!beside && bottom > button.y) return true;
	}
	return false;
}

async function signedIn(page: Page, url: string): Promise<Page> {
	await page.goto(`${url}/signin`);
	await page.locator('input[autocomplete="email"]').first().fill(owner.email);
	await page.locator('input[type="password"]').first().fill(owner.password);
	await page.getByRole('button', { name: /sign in/i }).click();
	await page.waitForURL((target) => !target.pathname.includes('signin'));
	return page;
}

await main();
