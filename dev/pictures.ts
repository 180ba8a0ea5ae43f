// `npm run docs -- pictures [FILE …]`: creates the pictures in docs/images, one of them moving, of this version in the real n8n.
// Only those of these examples if there are any; `forms` instead of a file: those of forms and the moving one.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page, selectors } from 'playwright-core';

import { startAgentService } from './agent-service/server.ts';
import { importExamples } from './examples.ts';
import { formPictures } from './formPictures.ts';
import { seedDemo } from './google/demo.ts';
import { startGoogle } from './google/server.ts';
import { movingPicture, question } from './movingPicture.ts';
import { root } from './n8n/installN8n.ts';
import { owner } from './n8n/n8nApi.ts';
import { freePort, startN8n } from './n8n/startN8n.ts';
import { Template } from './n8n/template.ts';

const images = path.join(root, 'docs', 'images');
const apiKey = 'pictures';
const chosen = process.argv.slice(2);
const whole = { x: 0, y: 0, width: 1280, height: 720 };

/** Styles that hide the sidebars, so that the picture has the whole workflow. */
const undecorated =
	'[data-test-id="canvas-controls"], [data-test-id="logs-panel"], [class*="sidebar" i], [data-test-id="canvas-minimap"], [data-test-id^="execute-workflow-button-"], [class*="nodeButtonsWrapper"], [class*="NodeButtonsWrapper"] { visibility: hidden }';

async function main(): Promise<void> {
	await mkdir(images, { recursive: true });
	const template = new Template('images');
	await template.prepare();
	const agent = await startAgentService({
		apiKey,
		messages: () => [
			{ type: 'step', text: question.step },
			{ type: 'answer', text: question.answer },
		],
		messageIntervalMilliseconds: 3000,
	});
	const google = await startGoogle();
	seedDemo(google);
	// The address that a form shows is the one that a newcomer's n8n has. The browser finds our n8n there.
	const url = 'http://localhost:5678';
	const port = await freePort();
	const env = { N8N_EDITOR_BASE_URL: url, N8N_WEBHOOK_URL: url };
	const n8n = await startN8n({ userFolder: template.folder, port, env });
	const profile = await mkdtemp(path.join(tmpdir(), 'chromium-'));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: '/usr/bin/chromium',
		viewport: { width: 1280, height: 720 },
		// Sharp on the screens that most people have.
		deviceScaleFactor: 2,
		args: [
			'--no-sandbox',
			'--lang=en-US',
			`--host-resolver-rules=MAP localhost:5678 127.0.0.1:${port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
		],
	});
	try {
		const examples = await importExamples(n8n.api, {
			agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
			google,
		});
		selectors.setTestIdAttribute('data-test-id');
		const page = await signedIn(await context.newPage(), url);
		// A busy machine takes longer.
		page.setDefaultTimeout(300_000);
		const wanted = examples.filter(({ file }) => chosen.length === 0 || chosen.includes(file));
		for (const { workflow, file } of wanted) {
			do {
				await page.goto(`${url}/workflow/${workflow.id}`);
				await page.getByTestId('canvas-node').nth(1).waitFor();
				// n8n shows this text when it could not give the browser its nodes.
			} while (await page.getByText('Init Problem').isVisible());
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
			const { x, y, width, height } =
				(await page.getByTestId('canvas').boundingBox()) ?? whole;
			// Tabs of the editor reach into the canvas.
			await page.screenshot({
				path: target,
				clip: { x, y: y + 20, width, height: height - 20 },
			});
			console.log(path.relative(root, target));
		}
		if (chosen.length > 0 && !chosen.includes('forms')) return;
		const shown = { api: n8n.api, url };
		await formPictures(page, shown, google, images);
		const chat =
			examples.find(({ file }) => file === 'chat-with-the-agent.json')?.workflow.id ?? '';
		const target = path.join(images, 'at-work.webp');
		await movingPicture(page, shown, google, `${url}/workflow/${chat}`, target);
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
	const buttons = page
		.getByTestId('execute-workflow-button')
		.or(page.getByTestId('workflow-chat-button'));
	const button = (await buttons.count()) > 0 ? await buttons.first().boundingBox() : null;
	if (!button) return false;
	for (const node of await page.getByTestId('canvas-node').all()) {
		const box = await node.boundingBox();
		if (!box) continue;
		// Two lines of a name stand below a node.
		const bottom = box.y + box.height * 1.5;
		const beside =
			box.x - box.width / 2 > button.x + button.width || box.x + box.width * 1.5 < button.x;
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
