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

	/** It may be open already: n8n remembers that for all workflows of a browser. */
	async open(): Promise<void> {
		const button = this.page.getByTestId('workflow-chat-button');
		const closed = button.filter({ hasNotText: 'Hide chat' });
		await button.waitFor();
		await clickUntil(closed, this.input);
	}

	private get input(): Locator {
		return this.panel.locator('textarea');
	}

	async type(words: string): Promise<void> {
		await fillIn(this.input, words);
		// n8n ignores the key until the turn before has ended, which is after its answer is shown. It empties the field when it sends.
		await persist(
			(timeout) => this.input.press('Enter', { timeout }),
			async () => (await this.input.inputValue()) === '',
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
