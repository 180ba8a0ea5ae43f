import type { LookupFunction } from 'node:net';
import type { NodeEgressFilter } from 'n8n-workflow';

/** What n8n lets a socket of ours reach. */
export type EgressFilter = Pick<NodeEgressFilter, 'validateUrl' | 'validateConnectionHost'> & {
	createSecureLookup(): LookupFunction;
};

interface Helpers {
	getSecureEgressFilter?(): EgressFilter;
}

/** n8n's policy, which its own requests follow by themselves; undefined before n8n 2.28, which has none for sockets. */
export function egressFilterOf(helpers: Helpers): EgressFilter | undefined {
	return typeof helpers.getSecureEgressFilter === 'function' ? helpers.getSecureEgressFilter() : undefined;
}

/** n8n's policy forbids the address: nothing was sent. */
class BlockedAddress extends Error {
	override readonly name = 'BlockedAddress';
}

/** The policy could not be asked, because the name of the host was not found: n8n sends no request then either, through a proxy or not. */
export class UnknownAddress extends Error {
	override readonly name = 'UnknownAddress';
	readonly code: string | undefined;

	constructor(cause: Error) {
		super(cause.message);
		this.code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
	}
}

/** @throws BlockedAddress for an address, or a name that stands for one, which may not be reached; UnknownAddress */
export async function checkAddress(filter: EgressFilter, url: string): Promise<void> {
	const result = await filter.validateUrl(url).catch(notFound);
	if (result.ok) return;
	throw isOfPolicy(result.error)
		? new BlockedAddress(result.error.message)
		: new UnknownAddress(result.error);
}

function notFound(error: unknown): { readonly ok: false; readonly error: Error } {
	return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
}

/** @throws BlockedAddress for a proxy that may not be reached */
export function checkProxy(filter: EgressFilter | undefined, hostname: string): void {
	const result = filter?.validateConnectionHost(hostname);
	if (result?.ok === false) throw new BlockedAddress(result.error.message);
}

/** By its name: there may be several copies of a class. */
export function isOfPolicy(error: Error): boolean {
	return error.name === 'BlockedAddress' || error.name.startsWith('SsrfBlocked');
}
