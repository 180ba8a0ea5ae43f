import type { ExecuteContext } from 'n8n-core';

/** n8n looks at the first bytes with an ES module, which jest's CommonJS cannot load; what it does not know, it calls text. */
export function withoutSniffing(context: ExecuteContext): void {
	const { helpers } = context;
	const prepareBinaryData: typeof helpers.prepareBinaryData = (data, path, mimeType = 'text/plain') =>
		helpers.prepareBinaryData(data, path, mimeType);
	Object.defineProperty(context, 'helpers', { value: { ...helpers, prepareBinaryData } });
}
