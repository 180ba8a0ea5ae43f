import type { Locator } from 'playwright-core';

import type { Editor } from './editor';

/** The chat below n8n's canvas. */
export class Chat {
	private readonly page: Editor['page'];

	constructor({ page }: Editor) {
		this.page = page;
	}

	get panel(): Locator {
		return this.page.getByTestId('canvas-chat');
	}

	/** n8n remembers whether it was open, for all workflows of a browser: another test may have left it so. */
	async open(): Promise<void> {
		const button = this.page.getByTestId('workflow-chat-button');
		const shown = button.filter({ hasText: 'Hide chat' });
		await button.waitFor();
		if (!(await shown.isVisible())) await button.click();
		await shown.waitFor();
		await this.panel.locator('textarea').waitFor();
	}

	async type(words: string): Promise<void> {
		const input = this.panel.locator('textarea');
		await input.fill(words);
		// n8n ignores the key until the turn before has ended, which is after its answer is shown. It empties the field when it sends.
		while ((await input.inputValue()) !== '') {
			await input.press('Enter');
			await this.page.waitForTimeout(200);
		}
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
