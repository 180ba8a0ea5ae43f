/**
 * n8n reports a TypeError while a node is loaded as a class that could not be found: so what an old n8n lacks is asked for before.
 * @param connectionTypes `NodeConnectionTypes` of n8n-workflow, which n8n has since 1.85
 * @throws Error that names the oldest version that works
 */
export function requireKnownN8n(connectionTypes: object | undefined): void {
	if (connectionTypes) return;
	throw new Error('n8n-nodes-agent-workspace needs n8n 1.123 or newer. Update n8n, then install it again.');
}
