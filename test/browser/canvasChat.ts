import type { Locator } from 'playwright-core';

import { clickUntil, type Editor } from './editor';

/** The chat below n8n's canvas. */
export class Chat {
	private readonly page: Editor['page'];

	constructor({ page }: Editor) {
		this.page = page;
	}

	get panel(): Locator {
		return this.page.getByTestId('canvas-chat');
	}

	/** n8n remembers whether it is open for all tabs of a browser: a test in another tab may open or close it at any time. */
	async open(): Promise<void> {
		const button = this.page.getByTestId('workflow-chat-button');
		const input = this.panel.locator('textarea');
		await button.waitFor();
		while (!(await input.isVisible())) {
			if (!(await button.filter({ hasText: 'Hide chat' }).isVisible())) await button.click();
			// Whether it is there is asked above.
			await input.waitFor({ timeout: 2000 }).catch(() => undefined);
		}
	}

	/** Waits for something in the chat, and opens it where another tab has closed it. */
	async waitFor(target: Locator): Promise<void> {
		while (!(await target.isVisible())) {
			await this.open();
			// Whether it is there is asked above.
			await target.waitFor({ timeout: 2000 }).catch(() => undefined);
		}
	}

	async type(words: string): Promise<void> {
		await this.open();
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
		await this.waitFor(this.panel.locator('.chat-message-from-bot').last().getByText(text).first());
	}

	/** Clicks a button of the newest message. */
	async decide(name: RegExp): Promise<void> {
		const message = this.panel.locator('.chat-message-from-bot').last();
		const button = message.getByRole('button', { name });
		await this.waitFor(button);
		await clickUntil(button, button, 'hidden');
	}
}
