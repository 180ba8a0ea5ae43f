/**
 * The process-wide value with this name. Code of an earlier version of the package that still runs shares it, so its shape must never
 * change.
 * @param make creates it for the first caller
 */
export function getGlobalSingleton<T>(name: string, make: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= make());
}

/**
 * Looks for what an old n8n lacks, before a node needs it: n8n would report the TypeError as a class that could not be found.
 * @param connectionTypes `NodeConnectionTypes` of n8n-workflow, which n8n has since 1.85
 * @throws Error that names the oldest version that works
 */
export function requireSupportedN8n(connectionTypes: object | undefined): void {
	if (connectionTypes) return;
	throw new Error('n8n-nodes-agent-workspace needs n8n 1.123 or newer. Update n8n, then install it again.');
}
