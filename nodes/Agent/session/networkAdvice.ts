import { blockedAdvice, type NetworkError } from '../../http/networkErrors';

/** Advice for network errors after which certainly nothing was sent. */
export const networkAdvice: Readonly<Partial<Record<NetworkError['category'], string>>> = {
	notConnected:
		'Check that the Deployment URL in the credential is correct, that the service is running, and that n8n can reach it (through a proxy, if you use one).',
	handshake:
		'Check the Deployment URL in the credential: its port, and whether the service supports https:// connections.',
	blocked: blockedAdvice,
};
