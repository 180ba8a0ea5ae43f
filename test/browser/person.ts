import { errors, type Locator, type Page } from 'playwright-core';

let clicked = 0;

/** What a person clicks on the straight way to a goal: what n8n ignored is not counted, nor is what is typed. */
export class StraightWay {
	clicks = 0;

	/** A part of the way. What is done outside of any is a detour of the test. */
	async go<T>(part: () => Promise<T>): Promise<T> {
		const before = clicked;
		const result = await part();
		this.clicks += clicked - before;
		return result;
	}
}

/** Ignores that something did not happen in time, and rethrows every other error, such as that of a closed tab. */
function isPatienceOver(error: unknown): undefined {
	if (error instanceof errors.TimeoutError) return undefined;
	throw error;
}

/** Milliseconds of each try. Longer each time: on a busy machine the effect comes late, and a second click would take it back. */
const patience = [5000, 10_000, 20_000, 20_000, 20_000, 20_000, 20_000];

/**
 * Repeats what a person does until it has had its effect: n8n ignores a click or a key while it draws anew, and what is below the
 * pointer may have moved. Only for what may be done twice.
 * @param act gets the milliseconds that it may take
 * @param clicks that a person needs for it
 */
export async function persist(
	act: (timeout: number) => Promise<unknown>,
	isDone: () => Promise<boolean>,
	clicks = 1,
): Promise<void> {
	if (await isDone()) return;
	for (const timeout of patience) {
		await act(timeout).catch(isPatienceOver);
		for (const end = Date.now() + timeout; Date.now() < end;) {
			if (await isDone()) {
				clicked += clicks;
				return;
			}
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}
	throw new Error(`It has had no effect ${patience.length} times`);
}

/** Waits until a form has taken what was typed, because n8n waits up to half a second for the next key. */
export async function untilTyped(page: Page): Promise<void> {
	// Timers of a page end in order, however busy the machine is.
	await page.evaluate(`new Promise((resolve) => { setTimeout(resolve, 600); })`);
}

/** Clicks on a page that is not n8n's, and takes every click. */
export async function click(target: Locator): Promise<void> {
	await target.click();
	clicked++;
}

/** Clicks until something else is there, or is gone. */
export async function clickUntil(
	target: Locator,
	effect: Locator,
	state: 'visible' | 'hidden' = 'visible',
): Promise<void> {
	await persist(
		(timeout) => target.click({ timeout }),
		async () => (await effect.first().isVisible()) === (state === 'visible'),
	);
}

/** What stands in a field now. Empty where there is no field. */
export async function valueOf(field: Locator): Promise<string> {
	return await field.evaluateAll(([first]: Array<{ value?: string }>) => first?.value ?? '');
}

/** Types into a field until it says so: n8n may draw it anew with its former value. */
export async function fillIn(field: Locator, text: string): Promise<void> {
	await persist(
		(timeout) => field.fill(text, { timeout }),
		async () => (await valueOf(field)) === text,
		0,
	);
}

/**
 * Opens a list and chooses from it. The list closes again without taking a click while n8n draws the form.
 * @param isChosen whether the form says so
 */
export async function chooseFrom(
	list: Locator,
	entry: Locator,
	isChosen: () => Promise<boolean>,
): Promise<void> {
	await persist(
		async (timeout) => {
			if (!(await entry.isVisible())) {
				await list.click({ timeout });
				await entry.waitFor({ timeout });
			}
			await entry.click({ timeout });
		},
		isChosen,
		2,
	);
}
