import type { BinaryHelperFunctions } from 'n8n-workflow';

/**
 * Keeps n8n from guessing a file's type by its first bytes: it uses an ES module for that, which
 * jest cannot load.
 */
export function withoutSniffing(context: { readonly helpers: BinaryHelperFunctions }): void {
	const { helpers } = context;
	const prepareBinaryData: typeof helpers.prepareBinaryData = (data, path, type = 'text/plain') =>
		helpers.prepareBinaryData(data, path, type);
	Object.defineProperty(context, 'helpers', { value: { ...helpers, prepareBinaryData } });
}
