import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { refusal } from '../../core/errors';
import { Sanitizer } from '../../core/sanitizer';
import { entriesOf } from '../../fields/values';

type TimestampUnit = 'seconds' | 'milliseconds';

/** The `agentApi` credential, checked. */
export interface AgentApiCredential {
	readonly deploymentUrl: string;
	readonly webSocketUrl: string;
	readonly apiKey: string;
	/** Of the channel's timestamp; the execute call always sends milliseconds. */
	readonly timestampUnit: TimestampUnit;
	readonly allowUnauthorizedCerts: boolean;
}

/** The `agentSignatureApi` credential; what is missing here may still come from the item. */
export interface AgentSignatureCredential {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** `current`: the time of each call; `issued`: the timestamp that came with the signature. */
	readonly timestampMode: 'current' | 'issued';
	/** As typed; milliseconds. */
	readonly issuedTimestamp: unknown;
	/** Host names that it may be used for; empty: any. */
	readonly allowedHosts: readonly string[];
}

/** Values of one item that take the place of the credential's; empty means the credential's. */
export interface IdentityOverrides {
	readonly userId?: unknown;
	readonly userPublicKey?: unknown;
	readonly signature?: unknown;
	/** Milliseconds since 1970, as a number or its digits. */
	readonly timestamp?: unknown;
}

/** Who calls, with the timestamp of this very call. */
export interface Identity {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

/** Reads what `getCredentials('agentApi')` gave. @throws NodeError 400 without an API key */
export function agentApiCredential(raw: Readonly<Record<string, unknown>>): AgentApiCredential {
	const apiKey = text(raw.apiKey);
	if (apiKey === '') {
		throw refusal(
			'The Agent API credential has no API key',
			'Enter the API key from the team that operates your agent.',
		);
	}
	return {
		deploymentUrl: text(raw.deploymentUrl),
		webSocketUrl: text(raw.webSocketUrl),
		apiKey,
		timestampUnit: raw.timestampUnit === 'milliseconds' ? 'milliseconds' : 'seconds',
		allowUnauthorizedCerts: raw.allowUnauthorizedCerts === true,
	};
}

/** Reads what `getCredentials('agentSignatureApi')` gave. */
export function agentSignatureCredential(raw: Readonly<Record<string, unknown>>): AgentSignatureCredential {
	return {
		userId: text(raw.userId),
		userPublicKey: text(raw.userPublicKey),
		signature: text(raw.signature),
		timestampMode: raw.timestampMode === 'issued' ? 'issued' : 'current',
		issuedTimestamp: raw.issuedTimestamp,
		allowedHosts: entriesOf(text(raw.allowedHosts)),
	};
}

/**
 * The identity of one call. Call it again for every request and every connection, so that the timestamp is fresh.
 * @throws NodeError 400 for a value that is missing, or a timestamp that is not in milliseconds
 */
export function identityOf(
	credential: AgentSignatureCredential,
	overrides: IdentityOverrides = {},
	nowMilliseconds: number = Date.now(),
): Identity {
	return {
		userId: present(overrides.userId, credential.userId, 'user ID'),
		userPublicKey: present(overrides.userPublicKey, credential.userPublicKey, 'user public key'),
		signature: present(overrides.signature, credential.signature, 'signature'),
		timestamp: timestampOf(credential, overrides, nowMilliseconds),
	};
}

const text = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

function present(override: unknown, fallback: string, name: string): string {
	const value = text(override) || fallback;
	if (value === '') {
		throw refusal(
			`The ${name} is missing`,
			`Enter the ${name} in the Agent Signature API credential or in the node's options.`,
		);
	}
	return value;
}

function timestampOf(
	credential: AgentSignatureCredential,
	overrides: IdentityOverrides,
	nowMilliseconds: number,
): number {
	if (text(overrides.timestamp) !== '') return milliseconds(overrides.timestamp, "The option 'Timestamp'");
	if (credential.timestampMode === 'current') return nowMilliseconds;
	const issued = text(credential.issuedTimestamp);
	// 0 is what the form begins with.
	if (issued === '' || issued === '0') {
		throw refusal(
			'The Agent Signature API credential has no issued timestamp',
			"Enter the timestamp that you received with the signature: milliseconds since 1970, 13 digits. If you did not receive one, set 'Timestamp' to 'Current'.",
		);
	}
	return milliseconds(issued, 'The issued timestamp of the Agent Signature API credential');
}

/** 1973 as milliseconds; the present as seconds is far below. */
const leastMilliseconds = 1e11;
/** The year 5138; the present as microseconds is far above. */
const mostMilliseconds = 1e14;
const howToGive = 'Enter the milliseconds since 1970: 13 digits, such as 1767225600000.';

function milliseconds(value: unknown, name: string): number {
	const digits = text(value);
	if (!/^\d{1,20}$/.test(digits)) throw refusal(`${name} is not a whole number of milliseconds`, howToGive);
	const number = Number(digits);
	if (number < leastMilliseconds) {
		throw refusal(
			`${name} is too small: it may be in seconds`,
			`${howToGive} The node converts them to seconds for the channel.`,
		);
	}
	if (number >= mostMilliseconds) throw refusal(`${name} is too large to be in milliseconds`, howToGive);
	return number;
}

export interface Credentials {
	readonly api: AgentApiCredential;
	readonly signer: AgentSignatureCredential;
}

export interface CredentialReader {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/** Both credentials as they are now. @throws n8n's error, NodeError 400 */
export async function readCredentials(context: CredentialReader): Promise<Credentials> {
	return {
		api: agentApiCredential(await context.getCredentials('agentApi')),
		signer: agentSignatureCredential(await context.getCredentials('agentSignatureApi')),
	};
}

/** What must never appear in a text. */
export function secretsOf(credential: Pick<AgentApiCredential, 'apiKey'>, identity: Identity): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}

/** More than any text is shown of. */
const maxLength = 16_384;

/** Takes the secrets out of texts that are cut, or a part of other ones, later on. */
export function redactorOf(secrets: readonly string[]): (text: string) => string {
	const sanitizer = new Sanitizer(secrets);
	return (text) => sanitizer.text(text, maxLength);
}
