/** What the product keeps for the whole process in the slots of `getGlobalSingleton`, as tests look at it. */
interface SharedState {
	readonly retryCache: Map<string, { readonly results: ReadonlyMap<number, unknown> }>;
	readonly agentSessionTriggers: { readonly listeners: ReadonlyMap<string, unknown> };
	readonly stopPeriod: { begunAt: number };
}

/** Undefined until the product needs the slot for the first time. */
function readSlot<N extends keyof SharedState>(name: N): SharedState[N] | undefined {
	const slots = globalThis as { readonly [slot: symbol]: SharedState[N] | undefined };
	return slots[Symbol.for(`n8n-nodes-agent-workspace.${name}`)];
}

/** Counts the results that the process keeps for a next try. */
export function countStoredResults(): number {
	const failedTries = [...(readSlot('retryCache')?.values() ?? [])];
	return failedTries.reduce((sum, { results }) => sum + results.size, 0);
}

/** Forgets those of earlier tests, which are kept for a minute. */
export function forgetStoredResults(): void {
	readSlot('retryCache')?.clear();
}

/** Counts the nodes that listen to channels. */
export const countListeningNodes = (): number =>
	readSlot('agentSessionTriggers')?.listeners.size ?? 0;

/** Gives the triggers that stop their whole time again, because each test's clock begins at 0. */
export function forgetStops(): void {
	const period = readSlot('stopPeriod');
	if (period) period.begunAt = -Infinity;
}
