import { createRefusal } from '../../core/errors';
import type { AgentSignatureCredential } from './credentials';

/**
 * Checks the host against the list in the signature credential. Without this check, a user with
 * whom the credential is shared could send the signature to any server, or unencrypted, with an
 * Agent API credential of their own.
 * @throws NodeError 400 if the host is not listed, or if the connection is not secure and the host
 * is not listed with `http://`
 */
export function checkAllowedHost(
	{ allowedHosts }: AgentSignatureCredential,
	{ host, hostname, protocol }: URL,
	isCertificateChecked: boolean,
): void {
	if (allowedHosts.length === 0) return;
	const isEncrypted = protocol === 'https:' || protocol === 'wss:';
	// A connection that stays on this machine needs no encryption.
	const isLoopback = /^(?:127\.[\d.]+|\[::1\]|localhost)$/.test(hostname);
	const isSecure = (isEncrypted && isCertificateChecked) || isLoopback;
	for (const entry of allowedHosts.map(parseAllowedHost))
		if (entry.hostname === hostname && (isSecure || entry.allowsUnencrypted)) return;
	throw createRefusal(
		`The Agent Signature API credential is not allowed for ${host}`,
		`Nothing was sent. 'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}. The connection must be encrypted, with 'Ignore SSL Issues' off, unless the list has http:// before the host. Ask the owner of the credential to change the list, or use an Agent API credential for one of these hosts.`,
	);
}

/**
 * Parses an entry, and normalizes its host as in a URL (lower case, ASCII).
 * @throws NodeError 400 if the entry is not a host name
 */
export function parseAllowedHost(entry: string) {
	const [, scheme = '', name = ''] = /^((?:http|ws)s?:\/\/)?(.*?)\/?$/i.exec(entry) ?? [];
	const url = URL.canParse(`ws://${name}`) ? new URL(`ws://${name}`) : undefined;
	if (url === undefined || /[/?#@\s*]|:\d+$/.test(name))
		throw createRefusal(
			`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
			'Enter names such as agent.example.com or http://agent.example.com, without a port, separated by commas.',
		);
	/** `allowsUnencrypted`: neither encryption nor a valid certificate is required. */
	return { hostname: url.hostname, allowsUnencrypted: /^(?:http|ws):/i.test(scheme) };
}
