import { submitForm } from '../../dev/n8n/forms.ts';

/** Submits the first page of a form. @returns the address of the further ones */
export async function fillIn(url: string, ...fields: string[]): Promise<string> {
	return await findNextPage(await submitForm(url, ...fields));
}

export async function findNextPage(answer: Response): Promise<string> {
	return ((await answer.json()) as { formWaitingUrl: string }).formWaitingUrl;
}

/**
 * While the execution runs, n8n never answers whoever asks for the page. It may begin to run after
 * n8n has told its state.
 */
export async function untilShown(page: string, text: string): Promise<void> {
	const state = new URL(page);
	state.pathname += '/n8n-execution-status';
	const shown = async () => {
		if ((await (await fetch(state)).text()) === 'running') return false;
		const answer = await fetch(page, { signal: AbortSignal.timeout(20_000) });
		return (await answer.text()).includes(text);
	};
	while (!(await shown().catch(() => false)))
		await new Promise((resolve) => setTimeout(resolve, 100));
}
