import { node } from '../e2e/n8n';
import { clickUntil, Editor } from './editor';
import { phrases } from './phrases';

let editor: Editor;
let categories: string[];

beforeAll(async () => {
	editor = await Editor.open();
	await editor.show({
		name: 'Search',
		nodes: [node('Start', 'n8n-nodes-base.manualTrigger')],
		connections: {},
	});
	const plus = editor.page.getByTestId('node-creator-plus-button').first();
	await clickUntil(plus, editor.page.getByTestId('node-creator-search-bar'));
	categories = await names();
});
afterAll(async () => {
	await editor.close();
});
afterEach(async () => {
	await editor.picture();
});

async function names(): Promise<string[]> {
	const shown = await editor.page.getByTestId('node-creator-item-name').allInnerTexts();
	return shown.map((name) => name.trim());
}

async function untilNames(fits: (shown: string[]) => boolean): Promise<string[]> {
	for (;;) {
		const shown = await names();
		if (fits(shown)) return shown;
		await editor.page.waitForTimeout(50);
	}
}

/** What the list shows for the words; it answers a moment after the typing. */
async function found(words: string): Promise<string[]> {
	const search = editor.page.getByTestId('node-creator-search-bar');
	await search.fill('');
	await untilNames((shown) => shown.join() === categories.join());
	await search.fill(words);
	return await untilNames((shown) => shown.join() !== categories.join());
}

test.each(phrases)('who types "%s" finds %s among the first three', async (words, name) => {
	expect((await found(words)).slice(0, 3)).toContain(name);
});
