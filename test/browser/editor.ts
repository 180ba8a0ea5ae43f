import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import {
	type Browser,
	type BrowserContext,
	chromium,
	type Locator,
	type Page,
	type Request,
	selectors,
} from 'playwright-core';

import { type Execution, N8nApi, type WorkflowDefinition } from '../../dev/n8n/n8nApi.ts';
import { tellReporter } from '../e2e/startLoggedN8n';
import { browserSuite } from './browserSuite';
import { patience } from './chromium';
import { chooseFrom, clickUntil, fillIn, persist, untilTyped, valueOf } from './person';
import { labelOf, optionOf } from './shown';

/** Folder in which every test leaves a picture of what the user saw at its end. */
const pictures = path.join(__dirname, '..', '..', '.dev', 'pictures');

/** Runs in each tab before n8n's own scripts. */
const initScript = `
	// n8n remembers what is open, such as the chat, and tells the other tabs of the browser, which are other tests.
	addEventListener('storage', (event) => event.stopImmediatePropagation(), true);
	addEventListener('DOMContentLoaded', () => {
		const style = document.createElement('style');
		// Movement takes time and says nothing here. A message that comes and goes must not lie over what is clicked.
		style.textContent =
			'*, *::before, *::after { transition: none !important; animation: none !important }' +
			'.el-notification { pointer-events: none }';
		document.head.append(style);
	});
`;

const isRun = (request: Request) =>
	request.method() === 'POST' && /\/workflows\/[^/]+\/run\b/.test(request.url());

/** Whether it stores a workflow or runs it. */
const isChange = (request: Request) =>
	['POST', 'PATCH'].includes(request.method()) && request.url().includes('/rest/workflows');

/** Takes a tab that an earlier test file has left, or opens one. */
async function takeTab(context: BrowserContext): Promise<Page> {
	for (const page of context.pages()) if (await takeIfLeft(page)) return page;
	return await context.newPage();
}

async function takeIfLeft(page: Page): Promise<boolean> {
	try {
		return await page.evaluate(`window.name === 'left' && Boolean(window.name = 'taken')`);
	} catch (error) {
		// Another test's, which closes or loads a page, as a sign-in does.
		if (page.isClosed() || /context was destroyed|detached/.test(String(error))) return false;
		throw error;
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
		const browser = await chromium.connectOverCDP(debuggingUrl, { timeout: patience });
		const [context] = browser.contexts();
		if (!context) throw new Error('Chromium has no profile open');
		context.setDefaultTimeout(patience);
		const page = await takeTab(context);
		await page.addInitScript(initScript);
		await page.setViewportSize({ width: 1440, height: 900 });
		return new Editor(n8nUrl, await N8nApi.signIn(n8nUrl), browser, page);
	}

	/** Leaves the tab to the next test file, because loading the editor takes long. */
	async close(): Promise<void> {
		const message = this.page.getByRole('dialog').filter({ visible: true });
		if ((await message.count()) === 0) await this.page.evaluate(`window.name = 'left'`);
		else await this.page.close();
		await this.browser.close();
	}

	/** Leaves a picture of the present test. */
	async picture(): Promise<void> {
		const { currentTestName, testPath } = expect.getState();
		const name = `${path.basename(testPath ?? '', '.test.ts')} ${currentTestName ?? 'test'}`;
		// As a JPEG, because a PNG takes longer.
		await this.page.screenshot({
			path: path.join(pictures, `${name.replaceAll(/\W+/g, '-')}.jpeg`),
			quality: 60,
		});
	}

	/** Leaves the page as it is where the workflow is open already. */
	async openWorkflow({ id }: { id: string }): Promise<void> {
		const node = this.page.getByTestId('canvas-node').first();
		if (this.#address()[2] === id && (await node.isVisible())) {
			await this.closeNode();
			return;
		}
		await this.goTo(`/workflow/${id}`, node);
	}

	/**
	 * Goes to a page of n8n as a link in n8n does, until it shows its content. Loading the editor anew takes ten times as long.
	 */
	async goTo(path: string, content: Locator): Promise<void> {
		if (this.page.url().startsWith(this.url)) {
			// What is shown now stays until n8n has loaded the page.
			await content.evaluateAll(`(elements) => {
				for (const element of elements) element.toggleAttribute('data-earlier', true);
			}`);
			await this.page.evaluate(`
				history.pushState(null, '', ${JSON.stringify(path)});
				dispatchEvent(new PopStateEvent('popstate'));
			`);
		} else {
			await this.page.goto(`${this.url}${path}`);
		}
		const shown = content.and(this.page.locator(':not([data-earlier])')).first();
		// n8n asks where the test before has changed a form at its end.
		const leave = this.page.getByRole('button', { name: 'Leave without saving' });
		await shown.or(leave).first().waitFor();
		await clickUntil(leave, leave, 'hidden');
		await shown.waitFor();
	}

	/** The parts of the path: nothing, `workflow`, its id, and the beginning of an open node's id. */
	#address(): string[] {
		return new URL(this.page.url()).pathname.split('/');
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
		const id = await this.node(name)
			.locator('xpath=ancestor::*[@data-id][1]')
			.getAttribute('data-id');
		const parameters = this.page.getByTestId('node-parameters');
		await persist(
			async (timeout) => {
				// The canvas may have moved below the pointer, so that another node is open.
				await this.closeNode();
				await this.node(name).dblclick({ timeout });
			},
			async () => {
				const [, , , opened] = this.#address();
				return (
					opened !== undefined &&
					id?.startsWith(opened) === true &&
					(await parameters.isVisible())
				);
			},
		);
	}

	/** Closes whatever node is open. */
	async closeNode(): Promise<void> {
		const close = this.page.getByTestId('ndv-close-button');
		await clickUntil(close, close, 'hidden');
	}

	/** Leaves the open node by the key that most people use for it. */
	async leaveNode(): Promise<void> {
		const close = this.page.getByTestId('ndv-close-button');
		await persist(
			() => this.page.keyboard.press('Escape'),
			async () => !(await close.isVisible()),
			0,
		);
	}

	/** Closes a list of the open node. Where n8n has closed the list by itself, the key closes the node. */
	async closeList(nodeName: string): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.openNode(nodeName);
	}

	parameter(name: string): Locator {
		return this.page.getByTestId('node-parameters').getByTestId(`parameter-input-${name}`);
	}

	/** Chooses in a dropdown by the words that stand there. */
	async choose(parameter: string, choice: string): Promise<void> {
		const isChosen = async () => (await this.chosen(parameter)) === choice;
		await chooseFrom(this.parameter(parameter), this.describedOption(choice), isChosen);
	}

	/** Finds an option by its name, which a description may follow. */
	private describedOption(name: string): Locator {
		return this.option(
			new RegExp(`^\\s*${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`),
		);
	}

	private option(name: string | RegExp): Locator {
		const exact = typeof name === 'string';
		return this.page.getByRole('option', { name, exact }).filter({ visible: true }).first();
	}

	/**
	 * Opens a dropdown whose options come from Google. It closes again when they arrive.
	 * @returns what the options say
	 */
	async openOptions(parameter: string): Promise<string[]> {
		const options = this.page.getByRole('option').filter({ visible: true });
		let texts: string[] = [];
		await persist(
			(timeout) => this.parameter(parameter).click({ timeout }),
			async () => {
				texts = await options.allInnerTexts();
				return texts.length > 0;
			},
		);
		return texts;
	}

	/** Chooses one of several in a dropdown whose options come from Google. */
	async chooseAmong(parameter: string, name: string): Promise<void> {
		const tag = this.parameter(parameter).locator('.el-tag').filter({ hasText: name });
		await chooseFrom(this.parameter(parameter), this.describedOption(name), () =>
			tag.isVisible(),
		);
	}

	/** Chooses the option with this value, by what is shown for it. */
	async chooseValue(parameter: string, value: string): Promise<void> {
		await this.choose(parameter, optionOf(parameter, value));
	}

	/** Adds a field to those of Options. */
	async addOption(field: string): Promise<void> {
		// Other collections, such as Reading Options, come after it.
		const list = this.page
			.getByTestId('node-parameters')
			.getByPlaceholder('Add option')
			.first();
		await chooseFrom(list, this.option(labelOf(field)), () =>
			this.parameter(field).isVisible(),
		);
	}

	async chosen(parameter: string): Promise<string> {
		return await valueOf(this.parameter(parameter).locator('input'));
	}

	/** Types into a text, number or JSON field. */
	async fill(parameter: string, text: string): Promise<void> {
		const field = this.parameter(parameter);
		const code = field.locator('.cm-content');
		const input = field.locator('input, textarea').first();
		await code.or(input).first().waitFor();
		if ((await code.count()) === 0) {
			await fillIn(input, text);
			return;
		}
		await persist(
			async (timeout) => {
				await code.click({ timeout });
				await this.page.keyboard.press('ControlOrMeta+A');
				await this.page.keyboard.insertText(text);
			},
			async () => (await code.allInnerTexts()).join('') === text,
			0,
		);
	}

	/** Gives a column of a mapping its value: drags a field of the input onto it. */
	async map(column: string, field: string): Promise<void> {
		const { mouse } = this.page;
		const source = this.page
			.getByTestId('ndv-input-panel')
			.getByText(field, { exact: true })
			.first();
		const target = this.page
			.getByTestId('mapping-fields-container')
			.getByTestId(`parameter-input-${column}`);
		await persist(
			async (timeout) => {
				// Both keep their place when the pointer is on them, and the form has its columns.
				await target.hover({ timeout });
				await source.hover({ timeout });
				const to = await target.boundingBox({ timeout });
				if (!to) return;
				await mouse.down();
				await mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 10 });
				await mouse.up();
			},
			() => target.getByText(`$json.${field}`).isVisible(),
		);
	}

	private locator(parameter: string): Locator {
		return this.page
			.getByTestId('node-parameters')
			.getByTestId(`resource-locator-${parameter}`);
	}

	/**
	 * Opens the list of a locator, until an entry or the message of an empty list says this. Such a
	 * message stays until the list is asked for again.
	 */
	async openPicker(parameter: string, hasText: string): Promise<void> {
		const list = this.page
			.getByTestId('rlc-item')
			.or(this.page.getByTestId('rlc-error-container'))
			.filter({ visible: true });
		const input = this.locator(parameter).getByTestId('rlc-input');
		await clickUntil(input, list.filter({ hasText }));
	}

	/** Picks from the list of a locator by name. */
	async pick(parameter: string, name: string): Promise<void> {
		const items = this.page.getByTestId('rlc-item').filter({ visible: true });
		const item = items.filter({ has: this.page.getByText(name, { exact: true }) });
		const input = this.locator(parameter).getByTestId('rlc-input');
		await chooseFrom(input, item.first(), async () => (await valueOf(input)) === name);
	}

	/** Gives a locator an ID in place of a choice from its list. */
	async giveId(parameter: string, id: string): Promise<void> {
		const modes = this.locator(parameter).getByTestId('rlc-mode-selector');
		const isById = async () => (await valueOf(modes.locator('input'))) === 'By ID';
		await chooseFrom(modes, this.option('By ID'), isById);
		await fillIn(this.locator(parameter).getByTestId('rlc-input'), id);
	}

	/** Clicks a button that runs a node or a workflow, until n8n answers. @returns what it says of the execution */
	async start(button: Locator): Promise<{ executionId?: string }> {
		await untilTyped(this.page);
		const answers: string[] = [];
		let openCount = 0;
		const note = async (request: Request) => {
			if (!isChange(request)) return;
			openCount++;
			const response = await request.response();
			const text = (await response?.text()) ?? '{}';
			if (isRun(request)) answers.push(text);
			openCount--;
		};
		this.page.on('request', note);
		try {
			await persist(
				(timeout) => button.click({ timeout }),
				async () => {
					// n8n stores the workflow before it runs it. A second click while it is slow to answer would run it twice.
					do await this.page.waitForTimeout(50);
					while (openCount > 0);
					return answers.length > 0;
				},
			);
		} finally {
			this.page.off('request', note);
		}
		return (JSON.parse(answers[0] ?? '') as { data?: { executionId?: string } }).data ?? {};
	}

	/** Clicks a button that runs a node or a workflow, until n8n runs it. @returns how it ended */
	async run(button: Locator): Promise<Execution> {
		for (let tries = 1; ; tries++) {
			const answer = await this.start(button);
			if (answer.executionId !== undefined)
				return await this.api.untilDone(answer.executionId);
			if (tries === 3) throw new Error(`n8n does not run it: ${JSON.stringify(answer)}`);
		}
	}

	/** Runs the open node, and waits until its output says all of it: values, or the message of a failure. */
	async runStep(...says: readonly string[]): Promise<void> {
		const { resultData } = await this.run(this.page.getByTestId('node-execute-button'));
		// A failure quotes the parameters of its node.
		const said = JSON.stringify(resultData, (key, value: unknown) =>
			key === 'node' ? undefined : value,
		);
		const lacks = says.filter((text) => !said.includes(JSON.stringify(text).slice(1, -1)));
		if (lacks.length > 0)
			throw new Error(`The node says nothing of "${lacks.join('", "')}": ${said}`);
		await this.reads(...says);
	}

	/** Waits until the output panel of the open node says all of it. */
	async reads(...says: readonly string[]): Promise<void> {
		const panel = this.page.getByTestId('output-panel');
		for (const hasText of says) await panel.filter({ hasText }).waitFor();
	}
}
