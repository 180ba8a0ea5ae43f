/**
 * Returns the process-wide value with this name. Code of an earlier version of the package may
 * still run and share the value, so its shape must never change. The first caller builds the value.
 */
export function getGlobalSingleton<T>(name: string, buildValue: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= buildValue());
}
