import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium, type Locator, type Page, selectors } from 'playwright-core';

import { N8nApi, type WorkflowDefinition } from '../../dev/n8n/rest.ts';
import { tellReporter } from '../e2e/loggedN8n';
import { browserSuite } from './browserSuite';
import { optionOf } from './shown';

/** Where every test leaves what the user saw at its end. */
const pictures = path.join(__dirname, '..', '..', '.dev', 'pictures');

/**
 * Clicks until the click has had its effect: n8n ignores one while it draws anew, and what is below the pointer may have moved.
 * Only for what may be clicked twice.
 */
export async function clickUntil(
	target: Locator,
	effect: Locator,
	state: 'visible' | 'hidden' = 'visible',
): Promise<void> {
	const had = async () => (await effect.first().isVisible()) === (state === 'visible');
	// Longer each time: on a busy machine the effect comes late, and another click would take it back.
	for (let timeout = 5000; !(await had()); timeout = Math.min(2 * timeout, 20_000)) {
		// Whether it was clicked, and whether that was enough, is asked above.
		await target.click({ timeout }).catch(() => undefined);
		await effect
			.first()
			.waitFor({ state, timeout })
			.catch(() => undefined);
	}
}

/** n8n's editor as a person uses it: what is clicked, typed and read. */
export class Editor {
	readonly url: string;
	readonly api: N8nApi;
	readonly page: Page;
	private readonly browser: Browser;

	private constructor(url: string, api: N8nApi, browser: Browser, page: Page) {
		this.url = url;
		this.api = api;
		this.browser = browser;
		this.page = page;
	}

	/** A tab of the suite's browser, signed in. */
	static async open(): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		await mkdir(pictures, { recursive: true });
		const { n8nUrl, log, debuggingUrl } = browserSuite();
		tellReporter(log, statSync(log).size);
		const browser = await chromium.connectOverCDP(debuggingUrl);
		const [context] = browser.contexts();
		if (!context) throw new Error('Chromium has no profile open');
		const page = await context.newPage();
		await page.setViewportSize({ width: 1440, height: 900 });
		// Playwright's limit of 30 s would be a timed assertion on a busy machine; jest's own for a test stays.
		page.setDefaultTimeout(300_000);
		return new Editor(n8nUrl, await N8nApi.signIn(n8nUrl), browser, page);
	}

	async close(): Promise<void> {
		await this.page.close();
		await this.browser.close();
	}

	/** Leaves a picture of the present test. */
	async picture(): Promise<void> {
		const { currentTestName, testPath } = expect.getState();
		const name = `${path.basename(testPath ?? '', '.test.ts')} ${currentTestName ?? 'test'}`;
		await this.page.screenshot({ path: path.join(pictures, `${name.replaceAll(/\W+/g, '-')}.png`) });
	}

	async openWorkflow({ id }: { id: string }): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
		await this.untilStill();
	}

	/** The canvas moves until all of the workflow is in view; what is clicked meanwhile may be something else. */
	private async untilStill(): Promise<void> {
		const place = async () =>
			JSON.stringify(await this.page.getByTestId('canvas-node').first().boundingBox());
		for (let before = ''; ;) {
			const now = await place();
			if (now === before) return;
			before = now;
			await this.page.waitForTimeout(400);
		}
	}

	/** Stores a workflow and opens it. */
	async show(definition: WorkflowDefinition): Promise<{ id: string; versionId: string }> {
		const workflow = await this.api.createWorkflow(definition);
		await this.openWorkflow(workflow);
		return workflow;
	}

	node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	async openNode(name: string): Promise<void> {
		const id = await this.node(name).locator('xpath=ancestor::*[@data-id][1]').getAttribute('data-id');
		for (;;) {
			await this.node(name).dblclick();
			await this.page.getByTestId('ndv').waitFor();
			// The canvas may have moved below the pointer. n8n shortens the id in the address.
			const opened = new URL(this.page.url()).pathname.split('/')[3];
			if (opened !== undefined && id?.startsWith(opened)) break;
			await this.closeNode();
		}
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** Closes whatever node is open. */
	async closeNode(): Promise<void> {
		const close = this.page.getByTestId('ndv-close-button');
		await clickUntil(close, close, 'hidden');
	}

	parameter(name: string): Locator {
		return this.page.getByTestId('node-parameters').getByTestId(`parameter-input-${name}`);
	}

	/** Chooses in a dropdown by the words that stand there. */
	async choose(parameter: string, choice: string): Promise<void> {
		const words = new RegExp(`^\\s*${choice.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`);
		await this.choice(this.parameter(parameter), { name: words });
	}

	/** Opens a dropdown whose options come from Google. It closes again when they arrive. @returns the options */
	async openOptions(parameter: string): Promise<Locator> {
		const options = this.page.getByRole('option').filter({ visible: true });
		while ((await options.count()) === 0) {
			await this.parameter(parameter).click();
			await this.page.waitForTimeout(500);
		}
		return options;
	}

	/** Chooses the option with this value, by what is shown for it. */
	async chooseValue(parameter: string, value: string): Promise<void> {
		await this.choose(parameter, optionOf(parameter, value));
	}

	/** Adds a field to those of Options, by its label. */
	async addOption(label: string): Promise<void> {
		const list = this.page.getByTestId('node-parameters').getByPlaceholder('Add option');
		await this.choice(list, { name: label, exact: true });
	}

	/** Opens a list and chooses from it. */
	private async choice(list: Locator, option: { name: string | RegExp; exact?: boolean }): Promise<void> {
		const entry = this.page.getByRole('option', option).filter({ visible: true }).first();
		await clickUntil(list, entry);
		await clickUntil(entry, entry, 'hidden');
	}

	async chosen(parameter: string): Promise<string> {
		return await this.parameter(parameter).locator('input').inputValue();
	}

	/** Types into a text, number or JSON field. */
	async fill(parameter: string, text: string): Promise<void> {
		const field = this.parameter(parameter);
		const code = field.locator('.cm-content');
		if ((await code.count()) > 0) {
			await code.click();
			await this.page.keyboard.press('ControlOrMeta+A');
			await this.page.keyboard.insertText(text);
			return;
		}
		await field.locator('input, textarea').first().fill(text);
	}

	/** Gives a column of a mapping its value: drags a field of the input onto it. */
	async map(column: string, field: string): Promise<void> {
		const source = this.page.getByTestId('ndv-input-panel').getByText(field, { exact: true }).first();
		const target = this.page.getByTestId('mapping-fields-container').getByTestId(`parameter-input-${column}`);
		const mapped = target.getByText(`$json.${field}`);
		// The form may move below the pointer while its columns arrive.
		while (!(await mapped.isVisible())) {
			await target.scrollIntoViewIfNeeded();
			const [from, to] = [await source.boundingBox(), await target.boundingBox()];
			if (!from || !to) throw new Error(`'${field}' or '${column}' is out of sight`);
			await this.page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
			await this.page.mouse.down();
			await this.page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 10 });
			await this.page.mouse.up();
			// Whether it is there is asked above.
			await mapped.waitFor({ timeout: 5000 }).catch(() => undefined);
		}
	}

	private locator(parameter: string): Locator {
		return this.page.getByTestId('node-parameters').getByTestId(`resource-locator-${parameter}`);
	}

	/** Opens the list of a locator. */
	async openPicker(parameter: string): Promise<void> {
		const list = this.page
			.getByTestId('rlc-item')
			.or(this.page.getByTestId('rlc-error-container'))
			.filter({ visible: true });
		const input = this.locator(parameter).getByTestId('rlc-input');
		// The message of an empty list stays until the list is asked for again.
		if (await list.first().isVisible()) await input.click();
		else await clickUntil(input, list);
	}

	/** Picks from the list of a locator by name. */
	async pick(parameter: string, name: string): Promise<void> {
		await this.openPicker(parameter);
		const items = this.page.getByTestId('rlc-item').filter({ visible: true });
		const item = items.filter({ has: this.page.getByText(name, { exact: true }) });
		await item.waitFor();
		await clickUntil(item, item, 'hidden');
	}

	/** Gives a locator an ID in place of a choice from its list. */
	async giveId(parameter: string, id: string): Promise<void> {
		await this.choice(this.locator(parameter).getByTestId('rlc-mode-selector'), { name: 'By ID' });
		await this.locator(parameter).getByTestId('rlc-input').fill(id);
	}

	/**
	 * Runs the open node, and waits until its output says all of it: values, or the message of a failure. n8n ignores a click while
	 * it is busy, and may run the node without what was typed last: then it is run again.
	 */
	async runStep(...says: ReadonlyArray<string | RegExp>): Promise<void> {
		const panel = this.page.getByTestId('output-panel');
		const saysAll = async () =>
			(await Promise.all(says.map((hasText) => panel.filter({ hasText }).isVisible()))).every(Boolean);
		const secondsOfARun = 20;
		for (;;) {
			await this.page.getByTestId('node-execute-button').click();
			for (let waited = 0; waited < secondsOfARun; waited += 0.2) {
				await this.page.waitForTimeout(200);
				if (await saysAll()) return;
			}
		}
	}

	/** Waits until the output panel of the open node says all of it. */
	async reads(...says: ReadonlyArray<string | RegExp>): Promise<void> {
		const panel = this.page.getByTestId('output-panel');
		for (const hasText of says) await panel.filter({ hasText }).waitFor();
	}
}
