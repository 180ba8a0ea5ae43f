import type { Locator } from 'playwright-core';

import type { Editor } from './editor';
import { clickUntil, persist } from './person';

/** Builds a workflow as a person does, from an empty canvas. */
export class Building {
	private readonly editor: Editor;
	private readonly page: Editor['page'];

	constructor(editor: Editor) {
		this.editor = editor;
		this.page = editor.page;
	}

	async start(): Promise<void> {
		await this.editor.goTo('/workflow/new', this.page.getByTestId('canvas-add-button'));
		// A list of nodes that is opened before n8n has loaded them stays without results.
		await this.page.waitForLoadState('networkidle');
	}

	/** Adds n8n's trigger for a click as the first node; it opens no form. */
	async startByClick(): Promise<void> {
		// It stands in the list at once; a search for what it says finds nothing.
		await this.search('', 'Trigger manually', this.page.getByTestId('canvas-node').first());
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
		await clickUntil(choice, this.page.getByTestId('node-parameters'));
	}

	/** @param result what is there when the right item was clicked: the list may close, or be drawn anew, under the pointer */
	private async search(words: string, name: string, result: Locator): Promise<void> {
		const bar = this.page.getByTestId('node-creator-search-bar');
		const first = this.page.getByTestId('canvas-add-button');
		const plus = this.page.getByTestId('node-creator-plus-button');
		await persist(
			async (timeout) => {
				if (await bar.isVisible()) await this.closeSearch();
				await first.or(plus).first().click({ timeout });
				await bar.fill(words, { timeout });
				await this.item(name).click({ timeout });
			},
			() => result.isVisible(),
			2,
		);
	}

	/** A list that was opened too early stays without results. */
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

	async publish(): Promise<void> {
		const publish = this.page.getByTestId('workflow-publish-button');
		await clickUntil(this.page.getByTestId('workflow-open-publish-modal-button'), publish);
		await clickUntil(publish, publish, 'hidden');
	}
}
