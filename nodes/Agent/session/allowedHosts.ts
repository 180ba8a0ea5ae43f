import { refusal } from '../../core/failure';
import type { AgentSignatureCredential } from './identity';

/**
 * Users who may use a signature credential but do not own it could enter their own server in an Agent API credential. So the owner's
 * list decides where the signature may be sent.
 * @throws Failure 400 for another host
 */
export function checkAllowedHost({ allowedHosts }: AgentSignatureCredential, url: URL): void {
	if (allowedHosts.length === 0) return;
	const patterns = allowedHosts.map(patternOf);
	const hostname = withoutFinalDot(url.hostname);
	const isAllowed = patterns.some(({ isBelow, host, port }) => {
		const isHost = isBelow ? hostname.endsWith(`.${host}`) : hostname === host;
		return isHost && (port === '' || port === portOf(url));
	});
	if (isAllowed) return;
	throw refusal(
		`The Agent Signature API credential is not allowed for ${url.host}`,
		`Nothing was sent. 'Allowed Hosts' of the credential: ${allowedHosts.join(', ')}. Ask the owner of the credential to add the host, or use an Agent API credential for one of these hosts.`,
	);
}

/** @throws Failure 400 for what is no host name */
export function checkHostNames({ allowedHosts }: AgentSignatureCredential): void {
	allowedHosts.forEach(patternOf);
}

interface Pattern {
	readonly isBelow: boolean;
	readonly host: string;
	/** Empty: any. */
	readonly port: string;
}

/** Parsed as an address, so that upper case and letters beyond ASCII are written as in a URL. @throws Failure 400 */
function patternOf(entry: string): Pattern {
	const isBelow = entry.startsWith('*.');
	const address = `ws://${isBelow ? entry.slice(2) : entry}`;
	const [, port = ''] = /:(\d+)$/.exec(entry) ?? [];
	if (!/[/?#@\s*]/.test(address.slice('ws://'.length)) && URL.canParse(address)) {
		return { isBelow, host: withoutFinalDot(new URL(address).hostname), port };
	}
	throw refusal(
		`'Allowed Hosts' of the Agent Signature API credential contains '${entry}', which is not a host name`,
		'Enter names such as agent.example.com, agent.example.com:3010 or *.example.com, separated by commas.',
	);
}

const withoutFinalDot = (name: string) => name.replace(/\.$/, '');

function portOf({ port, protocol }: URL): string {
	if (port !== '') return port;
	return protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
}
