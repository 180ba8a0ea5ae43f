import { createRefusal } from '../../core/errors';
import type { AgentSignatureCredential } from './credentials';

/**
 * Checks the host against the list in the signature credential. Without this check, a user with whom the credential is shared could send
 * the signature to any server, or unencrypted, with an Agent API credential of their own.
 * @throws NodeError 400 if the host is not listed, or if the connection is not secure and the host is not listed with `http://`
 */
export function checkAllowedHost(
	{ allowedHosts }: AgentSignatureCredential,
	url: URL,
	isCertificateChecked: boolean,
): void {
	if (allowedHosts.length === 0) return;
	const entries = allowedHosts
		.map(parseAllowedHost)
		.filter((entry) => matchesAllowedHost(entry, url));
	const isSecure = (isCertificateChecked && isEncrypted(url)) || isLoopback(url);
	if (entries.some(({ allowsUnencrypted }) => allowsUnencrypted || isSecure)) return;
	const list = `'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}.`;
	if (entries.length > 0)
		throw createRefusal(
			`The Agent Signature API credential is not allowed for ${url.host} without a verified encrypted connection`,
			`Nothing was sent. ${list} Use https:// and wss:// in the Agent API credential with 'Ignore SSL Issues' off, or ask the owner of the credential to enter http://${url.host}.`,
		);
	throw createRefusal(
		`The Agent Signature API credential is not allowed for ${url.host}`,
		`Nothing was sent. ${list} Ask the owner of the credential to add the host, or use an Agent API credential for one of these hosts.`,
	);
}

/** Parses an entry, and normalizes its host as in a URL (lower case, ASCII). @throws NodeError 400 if the entry is not a host name */
export function parseAllowedHost(entry: string) {
	// A scheme and a slash at the end are allowed around the name.
	const [, scheme = '', name = ''] = /^((?:http|ws)s?:\/\/)?(.*?)\/?$/i.exec(entry) ?? [];
	const hasWildcard = name.startsWith('*.');
	const address = hasWildcard ? name.slice(2) : name;
	const [, port = ''] = /:(\d+)$/.exec(name) ?? [];
	if (!/[/?#@\s*]/.test(address) && URL.canParse(`ws://${address}`)) {
		const host = removeFinalDot(new URL(`ws://${address}`).hostname);
		return {
			/** Whether the entry starts with `http://` or `ws://`. Then neither encryption nor a valid certificate is required. */
			allowsUnencrypted: /^(?:http|ws):/i.test(scheme),
			hasWildcard,
			host,
			/** An empty text means any port. */
			port,
		};
	}
	throw createRefusal(
		`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
		'Enter names such as agent.example.com, agent.example.com:3010, *.example.com or http://agent.example.com, separated by commas.',
	);
}

function matchesAllowedHost(
	{ hasWildcard, host, port }: ReturnType<typeof parseAllowedHost>,
	url: URL,
) {
	const hostname = removeFinalDot(url.hostname);
	const isHost = hasWildcard ? hostname.endsWith(`.${host}`) : hostname === host;
	const urlPort = url.port || (isEncrypted(url) ? '443' : '80');
	return isHost && (port === '' || port === urlPort);
}

const isEncrypted = ({ protocol }: URL) => protocol === 'https:' || protocol === 'wss:';

/** Whether the connection stays on this machine, so that it needs no encryption. */
const isLoopback = ({ hostname }: URL) => /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);

const removeFinalDot = (name: string) => name.replace(/\.$/, '');
