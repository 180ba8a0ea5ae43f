/**
 * The error and its causes, outermost first. If several occurred at once (one for each address of a host),
 * all of them are included.
 */
export function causesOf(error: unknown): unknown[] {
	const found: unknown[] = [];
	const open = [error];
	while (open.length > 0 && found.length < mostCauses) {
		const link = open.shift();
		if (link === undefined || link === null || found.includes(link)) continue;
		found.push(link);
		open.push(property(link, 'cause'));
		const several = property(link, 'errors');
		if (Array.isArray(several)) open.push(...(several as unknown[]));
	}
	return found;
}

const mostCauses = 16;

/** The first Node error code in the chain, wherever n8n's wrapper put it. */
export function codeIn(chain: readonly unknown[]): string | undefined {
	for (const link of chain) {
		const code = property(link, 'httpCode') ?? property(link, 'code');
		if (typeof code === 'string' && code !== '' && !/^\d+$/.test(code)) return code;
	}
	return undefined;
}

/**
 * The host and port that could not be reached: the requested host, or another one on the way to it, such as a
 * proxy.
 * @param url the requested address
 */
export function placeIn(chain: readonly unknown[], url: string): string {
	const { host, hostname, port, protocol } = new URL(url);
	const ownPort = Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port);
	for (const link of chain) {
		const name = property(link, 'hostname');
		if (typeof name === 'string' && name !== hostname) return name;
		const [address, hop] = [property(link, 'address'), property(link, 'port')];
		if (typeof address === 'string' && typeof hop === 'number' && hop !== ownPort) return `${address}:${hop}`;
	}
	return host;
}

export function property(value: unknown, key: string): unknown {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
