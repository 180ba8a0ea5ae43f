import type { Locator } from 'playwright-core';

import { clickUntil, type Editor } from './editor';

/** Builds a workflow as a person does, from an empty canvas. */
export class Building {
	private readonly editor: Editor;
	private readonly page: Editor['page'];

	constructor(editor: Editor) {
		this.editor = editor;
		this.page = editor.page;
	}

	async start(): Promise<void> {
		await this.page.goto(`${this.editor.url}/workflow/new`);
		await this.page.getByTestId('canvas-add-button').first().waitFor();
		// A list of nodes that is opened before n8n has loaded them stays without results.
		await this.page.waitForLoadState('networkidle');
	}

	/** Adds n8n's trigger for a click as the first node; it opens no form. */
	async startByClick(): Promise<void> {
		await this.search('manually', 'Trigger manually', this.page.getByTestId('canvas-node').first());
	}

	/**
	 * Adds a node after the last one, found by words. n8n shows a page about a community node first.
	 * @param action that is chosen on this page; the node as such if undefined
	 */
	async add(words: string, name: string, action?: string): Promise<void> {
		await this.editor.closeNode();
		const choice =
			action === undefined
				? this.page.getByRole('button', { name: 'Add to workflow' })
				: this.page.getByText(action, { exact: true });
		await this.search(words, name, choice);
		await choice.click();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** @param result what is there when the right item was clicked: the list may close, or be drawn anew, under the pointer */
	private async search(words: string, name: string, result: Locator): Promise<void> {
		const bar = this.page.getByTestId('node-creator-search-bar');
		const first = this.page.getByTestId('canvas-add-button');
		// Longer each time, because each is begun anew.
		for (let timeout = 5000; !(await result.isVisible()); timeout *= 2) {
			if (!(await bar.isVisible())) {
				if (await first.isVisible()) await first.click();
				else await this.page.getByTestId('node-creator-plus-button').first().click();
			}
			// Whether it was chosen is asked above.
			await bar.fill(words, { timeout }).catch(() => undefined);
			const isClicked = await this.item(name)
				.click({ timeout })
				.then(
					() => true,
					() => false,
				);
			if (isClicked) await result.waitFor({ timeout }).catch(() => undefined);
			else await this.closeSearch();
		}
	}

	private async closeSearch(): Promise<void> {
		if ((await this.page.getByTestId('canvas-node').count()) === 0) await this.start();
		else await this.page.keyboard.press('Escape');
	}

	private item(name: string): Locator {
		return this.page
			.getByTestId('node-creator-item-name')
			.filter({ has: this.page.getByText(name, { exact: true }) })
			.or(this.page.getByTestId('node-creator-item-name').getByText(name, { exact: true }))
			.first();
	}

	/**
	 * Chooses a credential that there is; n8n itself chooses the newest one. The list closes again when the form below it has
	 * just been drawn, so that a click may come too late.
	 */
	async chooseCredential(slot: number, name: string): Promise<void> {
		const select = this.page.getByTestId('node-credentials-select').nth(slot);
		const option = this.page
			.locator('[data-test-id^="node-credentials-select-item-"]')
			.filter({ hasText: name, visible: true })
			.first();
		const isChosen = async () => (await select.locator('input').first().inputValue()) === name;
		while (!(await isChosen())) {
			if (!(await option.isVisible())) await select.click();
			// Whether it was chosen is asked above.
			await option.click({ timeout: 2000 }).catch(() => undefined);
			await this.page.waitForTimeout(200);
		}
	}

	async publish(): Promise<void> {
		const publish = this.page.getByTestId('workflow-publish-button');
		await clickUntil(this.page.getByTestId('workflow-open-publish-modal-button'), publish);
		await clickUntil(publish, publish, 'hidden');
	}
}
