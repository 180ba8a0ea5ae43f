import type { ExecuteContext } from 'n8n-core';

/** Keeps n8n from guessing a file's type by its first bytes: it uses an ES module for that, which jest cannot load. */
export function withoutSniffing(context: ExecuteContext): void {
	const { helpers } = context;
	const prepareBinaryData: typeof helpers.prepareBinaryData = (
		data,
		path,
		mimeType = 'text/plain',
	) => helpers.prepareBinaryData(data, path, mimeType);
	Object.defineProperty(context, 'helpers', { value: { ...helpers, prepareBinaryData } });
}
