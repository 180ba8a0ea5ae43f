import type { Locator } from 'playwright-core';

import type { Editor } from './editor';

/** The chat below n8n's canvas. */
export class Chat {
	private readonly page: Editor['page'];

	constructor({ page }: Editor) {
		this.page = page;
	}

	private get panel(): Locator {
		return this.page.getByTestId('canvas-chat');
	}

	/** n8n remembers whether it was open. */
	async open(): Promise<void> {
		const input = this.panel.locator('textarea');
		while (!(await input.isVisible())) {
			await this.page.getByTestId('workflow-chat-button').click();
			await this.page.waitForTimeout(1000);
		}
	}

	async type(words: string): Promise<void> {
		await this.panel.locator('textarea').fill(words);
		await this.page.keyboard.press('Enter');
	}

	/** Waits until the newest message of the bot holds the text. */
	async shows(text: string): Promise<void> {
		await this.panel.locator('.chat-message-from-bot').last().getByText(text).first().waitFor();
	}

	/** Clicks a button of the newest message. */
	async decide(name: RegExp): Promise<void> {
		const message = this.panel.locator('.chat-message-from-bot').last();
		await message.getByRole('button', { name }).click();
	}
}
