import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, chromium, type Locator, type Page, selectors } from 'playwright-core';

import { N8nApi, type WorkflowDefinition } from '../../dev/n8n/rest.ts';
import { browserSuite } from './browserSuite';

/** Where every test leaves what the user saw at its end. */
const pictures = path.join(__dirname, '..', '..', '.dev', 'pictures');

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
		const { n8nUrl, debuggingUrl } = browserSuite();
		const browser = await chromium.connectOverCDP(debuggingUrl);
		const [context] = browser.contexts();
		if (!context) throw new Error('Chromium has no profile open');
		const page = await context.newPage();
		await page.setViewportSize({ width: 1440, height: 900 });
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
		await this.node(name).dblclick();
		await this.page.getByTestId('ndv').waitFor();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** Closes whatever node is open. */
	async closeNode(): Promise<void> {
		const close = this.page.getByTestId('ndv-close-button');
		if (!(await close.isVisible())) return;
		await close.click();
		await close.waitFor({ state: 'hidden' });
	}

	parameter(name: string): Locator {
		return this.page.getByTestId('node-parameters').getByTestId(`parameter-input-${name}`);
	}

	/** Chooses in a dropdown by the words that stand there. */
	async choose(parameter: string, choice: string): Promise<void> {
		await this.parameter(parameter).click();
		const words = new RegExp(`^\\s*${choice.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`);
		await this.page.getByRole('option', { name: words }).filter({ visible: true }).first().click();
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

	private locator(parameter: string): Locator {
		return this.page.getByTestId('node-parameters').getByTestId(`resource-locator-${parameter}`);
	}

	/** Opens the list of a locator. */
	async openPicker(parameter: string): Promise<void> {
		await this.locator(parameter).getByTestId('rlc-input').locator('input').click();
	}

	/** Picks from the list of a locator by name. */
	async pick(parameter: string, name: string): Promise<void> {
		await this.openPicker(parameter);
		await this.page.getByTestId('rlc-item').filter({ hasText: name }).filter({ visible: true }).click();
	}

	/** Gives a locator an ID in place of a choice from its list. */
	async giveId(parameter: string, id: string): Promise<void> {
		await this.locator(parameter).getByTestId('rlc-mode-selector').click();
		await this.page.getByRole('option', { name: 'By ID' }).filter({ visible: true }).click();
		await this.locator(parameter).getByTestId('rlc-input').locator('input').fill(id);
	}

	/** Runs the open node and waits for its output or its failure. */
	async runStep(): Promise<string> {
		await this.page.getByTestId('node-execute-button').click();
		return await this.output();
	}

	/** What the output panel of the open node says once the run is over. */
	async output(): Promise<string> {
		const panel = this.page.getByTestId('output-panel');
		await this.page.getByTestId('ndv-executing').waitFor({ state: 'hidden' });
		await panel
			.locator('[data-test-id="ndv-items-count"], [data-test-id="node-error-view"], [class*="nodeError"]')
			.or(panel.getByText('No output data returned'))
			.first()
			.waitFor();
		return await panel.innerText();
	}
}
