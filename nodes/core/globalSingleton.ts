/**
 * The process-wide value with this name. It is in a global slot because n8n may load the package again while
 * code of the first load still runs.
 * @param make creates the first value. Every later caller, from any load, gets that one, so its shape must
 * never change
 */
export function globalSingleton<T>(name: string, make: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= make());
}
