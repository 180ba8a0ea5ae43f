declare module 'proxy-from-env' {
	/** The proxy's address for a URL, or an empty text. */
	export function getProxyForUrl(url: string | URL): string;
}
