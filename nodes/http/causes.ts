/** The error and its causes, outermost first; of several that came at once (one for each address of a host) each. */
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

/** Node's code of one of them, wherever n8n's wrapping left it. */
export function codeIn(chain: readonly unknown[]): string | undefined {
	for (const link of chain) {
		const code = property(link, 'httpCode') ?? property(link, 'code');
		if (typeof code === 'string' && code !== '' && !/^\d+$/.test(code)) return code;
	}
	return undefined;
}

/** Host and port that an error of Node names. */
export function hostIn(chain: readonly unknown[]): string | undefined {
	for (const link of chain) {
		const host = property(link, 'hostname') ?? property(link, 'address');
		const port = property(link, 'port');
		if (typeof host === 'string') return typeof port === 'number' ? `${host}:${port}` : host;
	}
	return undefined;
}

export function property(value: unknown, key: string): unknown {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
