import type { Locator, Request } from 'playwright-core';

import type { Editor } from './editor';
import { chooseFrom, clickUntil, fillIn, persist, untilTyped, valueOf } from './person';

/** The form in which a person enters a credential, opened from a node. */
export class CredentialForm {
	private readonly page: Editor['page'];

	constructor({ page }: Editor) {
		this.page = page;
	}

	private get dialog(): Locator {
		return this.page.getByTestId('editCredential-modal');
	}

	/**
	 * Opens an empty form from the open node. Where there is no credential of the type yet, n8n shows a button, otherwise a list
	 * whose last entry makes one.
	 * @param type as the node shows it, such as "Agent API"
	 */
	async create(type: string, name: string): Promise<void> {
		const slot = this.slot(type);
		const select = slot.getByTestId('node-credentials-select');
		const empty = slot.getByTestId('node-credentials-empty-state').getByRole('button');
		const another = this.page
			.getByTestId('node-credentials-select-item-new')
			.filter({ visible: true })
			.first();
		await persist(
			async (timeout) => {
				await select.or(empty).first().waitFor({ timeout });
				if (await empty.isVisible()) {
					await empty.click({ timeout });
					return;
				}
				if (!(await another.isVisible())) await select.click({ timeout });
				await another.click({ timeout });
			},
			() => this.dialog.isVisible(),
		);
		await this.call(name);
	}

	/** Chooses a credential that is there already. */
	async use(type: string, name: string): Promise<void> {
		const select = this.slot(type).getByTestId('node-credentials-select');
		const entry = this.page.getByRole('option', { name }).filter({ visible: true }).first();
		const chosen = select.locator('input');
		await chooseFrom(select, entry, async () => (await valueOf(chosen)) === name);
	}

	/** Gives the credential a name of its own. Who does not need one clicks less. */
	private async call(name: string): Promise<void> {
		const title = this.dialog.getByTestId('credential-name');
		await persist(
			async (timeout) => {
				await title.click({ timeout });
				await this.page.keyboard.press('ControlOrMeta+A');
				await this.page.keyboard.type(name);
				await this.page.keyboard.press('Enter');
			},
			async () => (await title.innerText()).includes(name),
			0,
		);
	}

	private slot(type: string): Locator {
		const label = this.page.getByTestId('credentials-label').filter({ hasText: type });
		return this.page.getByTestId('node-credentials-slot').filter({ has: label });
	}

	private field(name: string): Locator {
		return this.dialog.getByTestId(`parameter-input-${name}`);
	}

	async fill(values: Readonly<Record<string, string>>): Promise<void> {
		for (const [name, value] of Object.entries(values))
			await fillIn(this.field(name).locator('input'), value);
		await untilTyped(this.page);
	}

	/** @param shown a field that is there only when it is on */
	async switchOn(name: string, shown: string): Promise<void> {
		const toggle = this.field(name).locator('button, .el-switch, [role=switch]').first();
		await clickUntil(toggle, this.field(shown));
	}

	async choose(name: string, option: string): Promise<void> {
		// The description of a choice follows its name.
		const startsSo = new RegExp(`^${option}`);
		const entry = this.page
			.getByRole('option', { name: startsSo })
			.filter({ visible: true })
			.first();
		const chosen = this.field(name).locator('input');
		await chooseFrom(this.field(name), entry, async () =>
			(await valueOf(chosen)).startsWith(option),
		);
	}

	/** Chooses one of several credential types of the node, at the top of the form. */
	async chooseMode(name: string): Promise<void> {
		const modes = this.dialog.getByTestId('credential-mode-dropdown-trigger');
		// n8n adds "(recommended)" to one of them.
		const item = this.page
			.getByRole('menuitem', { name: new RegExp(`^${name}( \\(|$)`) })
			.filter({ visible: true });
		await chooseFrom(modes, item, async () => (await modes.innerText()).includes(name));
	}

	/** Clicks until n8n stores it. */
	async save(): Promise<void> {
		const save = this.dialog.getByRole('button', { name: 'Save', exact: true });
		let isStored = false;
		const note = (request: Request) => {
			const { pathname } = new URL(request.url());
			isStored ||=
				/\/rest\/credentials(\/\w+)?$/.test(pathname) &&
				['POST', 'PATCH'].includes(request.method());
		};
		this.page.on('request', note);
		try {
			await persist(
				(timeout) => save.click({ timeout }),
				() => Promise.resolve(isStored),
			);
		} finally {
			this.page.off('request', note);
		}
	}

	async close(): Promise<void> {
		await clickUntil(
			this.dialog.getByRole('button', { name: 'Close this dialog' }),
			this.dialog,
			'hidden',
		);
	}

	/** n8n closes the form of a new credential when its test succeeds. */
	async untilClosed(): Promise<void> {
		await this.dialog.waitFor({ state: 'hidden' });
	}

	async untilConnected(): Promise<void> {
		await this.dialog.getByText('Connection tested successfully').waitFor();
	}

	/** Clicks the button that signs in. @returns the page that it opens */
	async connect(): Promise<Editor['page']> {
		const button = this.dialog.getByTestId('quick-connect-button').filter({ visible: true });
		const opened: Array<Editor['page']> = [];
		this.page.on('popup', (popup) => opened.push(popup));
		await persist(
			(timeout) => button.click({ timeout }),
			() => Promise.resolve(opened.length > 0),
		);
		const [popup] = opened;
		if (!popup) throw new Error('The sign-in has opened no page');
		return popup;
	}

	/** Waits until the form says this about its failed test. n8n draws the banner again, closed, when it is saved and tested. */
	async untilFailed(words: string): Promise<void> {
		await clickUntil(this.dialog.getByText('More details'), this.dialog.getByText(words));
	}

	/** Opens the chosen credential again. */
	async reopen(type: string): Promise<void> {
		await clickUntil(this.slot(type).getByTestId('credential-edit-button'), this.dialog);
	}
}
