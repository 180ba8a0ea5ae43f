/**
 * The process-wide value with this name. Code of an earlier version of the package that still runs shares it, so its shape must never
 * change.
 * @param make creates it for the first caller
 */
export function getGlobalSingleton<T>(name: string, make: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= make());
}
