import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';

import { emailsToRows, openAppend, runEmailsToRows, type ShownN8n } from './formPictures.ts';
import type { GoogleServer } from './google/server.ts';

interface Frame {
	readonly file: string;
	readonly seconds: number;
}

/**
 * A chat with the agent, then emails that become rows, as one animated picture. It needs ImageMagick (on Debian: imagemagick).
 * @param chat address of the example's workflow
 */
export async function movingPicture(
	page: Page,
	n8n: ShownN8n,
	google: GoogleServer,
	chat: string,
	target: string,
): Promise<void> {
	await page.setViewportSize({ width: 1280, height: 720 });
	const folder = await mkdtemp(path.join(tmpdir(), 'frames-'));
	const frames: Frame[] = [];
	const frame = async (seconds: number) => {
		const file = path.join(folder, `${frames.length}.png`);
		await page.screenshot({ path: file });
		frames.push({ file, seconds });
	};
	try {
		await chatFrames(page, chat, frame);
		await runEmailsToRows(page, await emailsToRows(n8n, google));
		await frame(2);
		await openAppend(page);
		await frame(4);
		const delays = frames.flatMap(({ file, seconds }) => [
			'-delay',
			String(seconds * 100),
			file,
		]);
		const lossless = ['-define', 'webp:lossless=true', '-quality', '100'];
		await promisify(execFile)('convert', ['-loop', '0', ...delays, ...lossless, target]);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

async function chatFrames(
	page: Page,
	address: string,
	frame: (seconds: number) => Promise<void>,
): Promise<void> {
	await page.goto(address);
	const panel = page.getByTestId('canvas-chat');
	const input = panel.locator('textarea');
	while (!(await input.isVisible())) {
		await page.getByTestId('workflow-chat-button').click();
		// The loop's condition finds out whether it is open.
		await input.waitFor({ timeout: 5000 }).catch(() => undefined);
	}
	await input.fill('Which orders are late?');
	await page.waitForTimeout(1000);
	await frame(2);
	// n8n ignores the key until the chat is ready. It empties the field when it sends.
	while ((await input.inputValue()) !== '') {
		await input.press('Enter');
		await page.waitForTimeout(500);
	}
	for (const text of [question.step, question.answer]) {
		await panel.getByText(text).waitFor();
		await page.waitForTimeout(300);
		await frame(text === question.answer ? 3 : 1.5);
	}
}

/** What the agent says in the picture: first that it is at work, then its answer. */
export const question = {
	step: 'Looking through the orders …',
	answer: 'Three orders are late: 1041, 1044 and 1052.',
} as const;
