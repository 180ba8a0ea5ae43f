import type { Locator } from 'playwright-core';

import { clickUntil, type Editor } from './editor';

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
		const label = this.page.getByTestId('credentials-label').filter({ hasText: type });
		const slot = this.page.getByTestId('node-credentials-slot').filter({ has: label });
		const select = slot.getByTestId('node-credentials-select');
		const empty = slot.getByTestId('node-credentials-empty-state').getByRole('button');
		await select.or(empty).first().waitFor();
		if (await empty.isVisible()) await clickUntil(empty, this.dialog);
		else {
			const another = this.page.getByTestId('node-credentials-select-item-new').filter({ visible: true });
			// The list closes again without taking a click while n8n loads: then it is opened anew.
			while (!(await this.dialog.isVisible())) {
				if (!(await another.first().isVisible())) await select.click();
				// Whether that was enough is asked above.
				await another
					.first()
					.click({ timeout: 5000 })
					.catch(() => undefined);
				await this.dialog.waitFor({ timeout: 5000 }).catch(() => undefined);
			}
		}
		await this.dialog.getByTestId('credential-name').click();
		await this.page.keyboard.press('ControlOrMeta+A');
		await this.page.keyboard.type(name);
		await this.page.keyboard.press('Enter');
	}

	private field(name: string): Locator {
		return this.dialog.getByTestId(`parameter-input-${name}`);
	}

	async fill(values: Readonly<Record<string, string>>): Promise<void> {
		for (const [name, value] of Object.entries(values)) await this.field(name).locator('input').fill(value);
	}

	/**
	 * n8n ignores a click while it draws the form again.
	 * @param shown a field that is there only when it is on
	 */
	async switchOn(name: string, shown: string): Promise<void> {
		const effect = this.field(shown);
		while (!(await effect.isVisible())) {
			await this.field(name).locator('button, .el-switch, [role=switch]').first().click();
			// Whether it is there is asked above.
			await effect.waitFor({ timeout: 5000 }).catch(() => undefined);
		}
	}

	/** The list closes again when the form has just been drawn. */
	async choose(name: string, option: string): Promise<void> {
		// The description of a choice follows its name.
		const startsSo = new RegExp(`^${option}`);
		const entry = this.page.getByRole('option', { name: startsSo }).filter({ visible: true }).first();
		const isChosen = async () =>
			(await this.field(name).locator('input').first().inputValue()).startsWith(option);
		while (!(await isChosen())) {
			if (!(await entry.isVisible())) await this.field(name).click();
			// Whether it was chosen is asked above.
			await entry.click({ timeout: 2000 }).catch(() => undefined);
			await this.page.waitForTimeout(200);
		}
	}

	/** Chooses one of several credential types of the node, at the top of the form. */
	async chooseMode(name: string): Promise<void> {
		const item = this.page.getByRole('menuitem', { name, exact: true }).filter({ visible: true });
		await clickUntil(this.dialog.getByTestId('credential-mode-dropdown-trigger'), item);
		await clickUntil(item, item, 'hidden');
	}

	async save(): Promise<void> {
		await this.dialog.getByRole('button', { name: 'Save', exact: true }).click();
	}

	async close(): Promise<void> {
		await clickUntil(this.dialog.getByRole('button', { name: 'Close this dialog' }), this.dialog, 'hidden');
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
		for (;;) {
			const opened = this.page.context().waitForEvent('page', { timeout: 10_000 });
			const isOpen = opened.then(
				() => true,
				() => false,
			);
			await button.click();
			if (await isOpen) return await opened;
		}
	}

	/** Waits until the form says this about its failed test. n8n draws the banner again, closed, when it is saved and tested. */
	async untilFailed(words: string): Promise<void> {
		await clickUntil(this.dialog.getByText('More details'), this.dialog.getByText(words));
	}

	/** Opens the chosen credential again. */
	async reopen(type: string): Promise<void> {
		const label = this.page.getByTestId('credentials-label').filter({ hasText: type });
		const slot = this.page.getByTestId('node-credentials-slot').filter({ has: label });
		await clickUntil(slot.getByTestId('credential-edit-button'), this.dialog);
	}
}
