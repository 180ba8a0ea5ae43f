import { node } from '../e2e/startTestN8n';
import { Editor } from './editor';
import { clickUntil, fillIn } from './person';
import { phrases } from './phrases';

let editor: Editor;

beforeAll(async () => {
	editor = await Editor.open();
	await editor.show({
		name: 'Search',
		nodes: [node('Start', 'n8n-nodes-base.manualTrigger')],
		connections: {},
	});
	const plus = editor.page.getByTestId('node-creator-plus-button').first();
	await clickUntil(plus, editor.page.getByTestId('node-creator-search-bar'));
});
afterAll(async () => {
	await editor.picture();
	await editor.close();
});

async function names(): Promise<string[]> {
	const shown = await editor.page.getByTestId('node-creator-item-name').allInnerTexts();
	return shown.map((name) => name.trim());
}

async function untilNames(fits: (shown: string[]) => boolean): Promise<string[]> {
	for (;;) {
		const shown = await names();
		if (shown.length > 0 && fits(shown)) return shown;
		await editor.page.waitForTimeout(50);
	}
}

/** n8n's list of all kinds of nodes, which stands there while nothing is searched. */
const isOverview = (shown: string[]) => shown.includes('Action in an app');

/** What the list shows for the words; it answers a moment after the typing. */
async function found(words: string): Promise<string[]> {
	const search = editor.page.getByTestId('node-creator-search-bar');
	await fillIn(search, '');
	await untilNames(isOverview);
	await fillIn(search, words);
	return await untilNames((shown) => !isOverview(shown));
}

test.each(phrases)('who types "%s" finds %s among the first three', async (words, name) => {
	expect((await found(words)).slice(0, 3)).toContain(name);
});

// Nodes whose own names begin with the word come first in n8n's search, whatever the aliases of others.
test('who types "mail" finds Workspace without scrolling', async () => {
	expect(await found('mail')).toContain('Workspace');
	const items = editor.page.getByTestId('node-creator-item-name');
	const box = await items.getByText('Workspace', { exact: true }).boundingBox();
	expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(
		editor.page.viewportSize()?.height ?? 0,
	);
});
