import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { createRefusal } from '../../core/errors';
import { splitList } from '../../fields/values';

/** The values that identify the user, with the timestamp of one request. */
export interface Identity {
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

export type AgentApiCredential = ReturnType<typeof parseAgentApiCredential>;

/** Parses the `agentApi` credential. @throws NodeError 400 if the API key is empty */
export function parseAgentApiCredential(raw: Readonly<Record<string, unknown>>) {
	const apiKey = trimValue(raw.apiKey);
	const advice = 'Enter the API key from the team that operates your agent.';
	if (apiKey === '') throw createRefusal('The Agent API credential has no API key', advice);
	return {
		deploymentUrl: trimValue(raw.deploymentUrl),
		webSocketUrl: trimValue(raw.webSocketUrl),
		apiKey,
		/** The unit of the channel's timestamp. The execute call always sends milliseconds. */
		timestampUnit: raw.timestampUnit,
		allowUnauthorizedCerts: raw.allowUnauthorizedCerts === true,
	};
}

export type AgentSignatureCredential = ReturnType<typeof parseAgentSignatureCredential>;

/**
 * Parses the `agentSignatureApi` credential. Missing values are no error, because each item may
 * override them.
 */
export function parseAgentSignatureCredential(raw: Readonly<Record<string, unknown>>) {
	return {
		userId: trimValue(raw.userId),
		userPublicKey: trimValue(raw.userPublicKey),
		signature: trimValue(raw.signature),
		/**
		 * `issued` is the timestamp that came with the signature. Otherwise, the time of each call
		 * is sent.
		 */
		timestampMode: raw.timestampMode,
		/** Milliseconds since 1970. Not checked yet. */
		issuedTimestamp: raw.issuedTimestamp,
		/** The host names that the credential may be used for. An empty list allows every host. */
		allowedHosts: 'allowedHosts' in raw ? readAllowedHosts(raw.allowedHosts) : [],
	};
}

/** @throws NodeError 400 if an expression gives no list, because that must not allow every host */
function readAllowedHosts(raw: unknown): string[] {
	if (raw === '') return [];
	const hosts = typeof raw === 'string' ? splitList(raw) : raw;
	if (Array.isArray(hosts) && hosts.length > 0) return hosts.map(trimValue);
	throw createRefusal(
		"'Allowed Hosts' of the Agent Signature API credential gives no hosts",
		'Nothing was sent. Check its expression. It must give a text or an array.',
	);
}

/**
 * Builds the identity of one request or channel.
 * @param override the values of one item that replace those of the credential
 */
export function buildIdentity(
	credential: AgentSignatureCredential,
	override?: Identity,
	nowMilliseconds: number = Date.now(),
): Identity {
	const { userId, userPublicKey, signature } = override ?? credential;
	return {
		userId: requireIdentityValue(userId, 'user ID'),
		userPublicKey: requireIdentityValue(userPublicKey, 'user public key'),
		signature: requireIdentityValue(signature, 'signature'),
		timestamp: override
			? parseTimestamp(override.timestamp, "'Timestamp (Milliseconds)'")
			: readTimestamp(credential, nowMilliseconds),
	};
}

const trimValue = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';

function requireIdentityValue(value: string, name: string): string {
	if (value.trim() !== '') return value.trim();
	throw createRefusal(
		`The ${name} is missing`,
		`Enter the ${name} in the Agent Signature API credential, or use the node's option 'Signature Override'.`,
	);
}

function readTimestamp(credential: AgentSignatureCredential, nowMilliseconds: number): number {
	if (credential.timestampMode !== 'issued') return nowMilliseconds;
	return parseTimestamp(
		credential.issuedTimestamp,
		'The issued timestamp of the Agent Signature API credential',
	);
}

function parseTimestamp(value: unknown, name: string): number {
	const digits = trimValue(value);
	// Times from 2001 to 2286. A time in seconds or microseconds has more or fewer digits.
	if (/^\d{13}$/.test(digits)) return Number(digits);
	throw createRefusal(
		`${name} is not a time in milliseconds`,
		`Enter the milliseconds since 1970: 13 digits, such as 1767225600000. If you received no timestamp with the signature, set 'Timestamp' in the credential to 'Current'.`,
	);
}

/** The part of n8n's contexts that reads credentials. */
export interface CredentialContext {
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

export type AgentCredentials = Awaited<ReturnType<typeof readCredentials>>;

/**
 * Reads both credentials.
 * @throws NodeError 400 without an API key; n8n's error if it cannot read one
 */
export async function readCredentials(context: CredentialContext) {
	return {
		api: parseAgentApiCredential(await context.getCredentials('agentApi')),
		signatureApi: parseAgentSignatureCredential(
			await context.getCredentials('agentSignatureApi'),
		),
	};
}

export function listSecrets(
	credential: Pick<AgentApiCredential, 'apiKey'>,
	identity: Identity,
): string[] {
	return [credential.apiKey, identity.signature, identity.userPublicKey];
}
