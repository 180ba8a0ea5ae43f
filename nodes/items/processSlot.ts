/**
 * The one value of its name in this process. In a global slot: n8n may load the package again, while code of the first load still runs.
 * @param make its first value; whoever comes later, from whichever load, gets that one, so its shape never changes
 */
export function processSlot<T>(name: string, make: () => T): T {
	const slots = globalThis as { [slot: symbol]: T | undefined };
	return (slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)] ??= make());
}
