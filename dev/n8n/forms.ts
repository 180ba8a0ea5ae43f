import type { WorkflowDefinition } from './n8nApi.ts';

/** The address of a published workflow's form. @param n8nUrl the address of n8n, without a slash at the end */
export function getFormUrl(n8nUrl: string, { name, nodes }: WorkflowDefinition): string {
	const form = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger');
	const { options } = (form?.['parameters'] ?? {}) as { options?: { path?: string } };
	if (options?.path === undefined)
		throw new Error(`The workflow '${name}' has no form with a path`);
	return `${n8nUrl}/form/${options.path}`;
}

/**
 * Submits a page of an n8n form, as a browser does.
 * @param url the form's address, or that of a further page
 * @param values the values of its fields, in order
 */
export async function submitForm(url: string, ...values: string[]): Promise<Response> {
	const form = new FormData();
	for (const [index, value] of values.entries()) form.append(`field-${index}`, value);
	return await fetchPublished(url, { method: 'POST', body: form });
}

/** Sends a request to a published address, which is there a moment after its workflow. */
export async function fetchPublished(url: string | URL, init: RequestInit = {}): Promise<Response> {
	// n8n closes connections that were idle for 5 s. A call that reused one at that moment would be reset.
	const headers = { ...(init.headers as Record<string, string>), connection: 'close' };
	for (;;) {
		const response = await fetch(url, { ...init, headers });
		const isMissing =
			response.status === 404 &&
			/not registered|<!DOCTYPE/.test(await response.clone().text());
		if (!isMissing) return response;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}
