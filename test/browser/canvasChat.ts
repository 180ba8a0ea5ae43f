import type { Locator } from 'playwright-core';

import type { Editor } from './editor';
import { clickUntil, fillIn, persist } from './person';

/** The chat below n8n's canvas. */
export class Chat {
	private readonly page: Editor['page'];

	constructor({ page }: Editor) {
		this.page = page;
	}

	get panel(): Locator {
		return this.page.getByTestId('canvas-chat');
	}

	/** Opens it for the workflow that is shown. It may still be open for another one: n8n remembers that for all workflows. */
	async open(): Promise<void> {
		const button = this.page.getByTestId('workflow-chat-button');
		await button.waitFor();
		await clickUntil(button.filter({ hasText: 'Hide chat' }), this.input, 'hidden');
		await clickUntil(button.filter({ hasNotText: 'Hide chat' }), this.input);
	}

	private get input(): Locator {
		return this.panel.locator('textarea');
	}

	async type(words: string): Promise<void> {
		const sent = this.panel.locator('.chat-message-from-user');
		const before = await sent.count();
		const send = this.panel.locator('.chat-input-send-button:enabled');
		await persist(
			async (timeout) => {
				await fillIn(this.input, words);
				// Until the turn before has ended, which is after its answer is shown.
				await send.waitFor({ timeout });
				await this.input.press('Enter', { timeout });
			},
			async () => (await sent.count()) > before,
			0,
		);
	}

	/** Waits until the newest message of the bot holds the text. */
	async shows(text: string): Promise<void> {
		await this.panel.locator('.chat-message-from-bot').last().getByText(text).first().waitFor();
	}

	/** All text of the newest message. */
	async newest(): Promise<string> {
		return await this.panel.locator('.chat-message-from-bot').last().innerText();
	}

	/** Clicks a button of the newest message. */
	async decide(name: RegExp): Promise<void> {
		const message = this.panel.locator('.chat-message-from-bot').last();
		const button = message.getByRole('button', { name });
		await button.waitFor();
		await clickUntil(button, button, 'hidden');
	}
}
