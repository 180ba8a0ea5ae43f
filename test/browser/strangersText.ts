import type { Locator } from 'playwright-core';

import type { Editor } from './editor';

/** A stranger's text that would be a picture and a link if it were shown as HTML. */
export const strangersText =
	'<img src="http://evil.example/seen"><a href="http://evil.example/">Reconnect</a> a<b';

/** The editor shows a hint, an error's description and the message in a toast as HTML. A stranger's text in them stays text. */
export class StrangersText {
	readonly #editor: Editor;
	readonly #asked: string[] = [];

	constructor(editor: Editor) {
		this.#editor = editor;
		editor.page.on('request', (request) => this.#asked.push(request.url()));
	}

	/**
	 * Runs the open node; then its panel says all of the text, which is neither a picture nor a link.
	 * @param alsoIn a toast that says it, too
	 */
	async isRead(text: string, alsoIn?: Locator): Promise<void> {
		await this.#editor.runStep('evil.example');
		// A space without width keeps each < from beginning a tag.
		await this.#editor.reads(text.replaceAll('<', '<\u200b'));
		await alsoIn?.filter({ hasText: 'Reconnect' }).first().waitFor();
		const { page } = this.#editor;
		const addresses = page.locator('[src*="evil.example"], [href*="evil.example"]');
		expect(await addresses.count()).toBe(0);
		expect(this.#asked.filter((url) => url.includes('evil.example'))).toEqual([]);
	}
}
