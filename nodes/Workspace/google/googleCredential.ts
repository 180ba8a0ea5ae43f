import { createHash } from 'node:crypto';
import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
} from 'n8n-workflow';

import { shareReadings } from '../../core/clock';
import { createRefusal, NodeError } from '../../core/errors';
import { type Sanitizer, findSecrets } from '../../core/sanitizer';
import type { FullResponse, RequestSender } from '../../http/attempt';
import { getProperty } from '../../http/networkErrors';
import type { Clients } from './clients';
import { type Api, type ApiBases, googleApiBases } from './endpoints';
import { createTokenError } from './errors';
import { getDriveAccess, type SignIn } from './scopes';
import { hashAccount, readServiceAccount } from './serviceAccount';
import { describeSignInEnd, logNotice } from './signInEnd';
import type { TransportOptions } from './transport';

/** What depends on the operation: the limits of its requests, and its advice. */
type OperationOptions = Pick<
	TransportOptions,
	'maxRetryWaitMilliseconds' | 'timeoutMilliseconds' | 'operationAdvice'
>;

/** How to send the requests of a group, which serve several runs. */
export interface GroupRequestOptions extends Required<Pick<TransportOptions, 'log'>> {
	readonly signal: AbortSignal;
	/**
	 * The sanitizers of all these runs. Each must know the secrets of the credential with which the
	 * requests are sent.
	 */
	readonly sanitizers: readonly Sanitizer[];
}

/**
 * Reads the node's Google credential, and adds its secrets to the sanitizer.
 * @param choice the value of the field Authentication
 * @throws n8n's error if the node has no credential, NodeError 401 if nobody has signed
 * in to it, 400 if an API base is not an address
 */
export async function readGoogleCredential(
	context: IAllExecuteFunctions,
	choice: unknown,
	sanitizer: Sanitizer,
) {
	const type = choice === 'serviceAccount' ? 'workspaceServiceAccountApi' : 'workspaceOAuth2Api';
	const credential = await readCredential(context, type);
	sanitizer.addSecrets(findSecrets(credential));
	// Nobody has signed in yet. n8n would report that without a code that says so.
	if (type === 'workspaceOAuth2Api' && !getProperty(credential['oauthTokenData'], 'access_token'))
		throw createTokenError({ authentication: 'oAuth2' }, false);
	await refuseSeveralUsers(context, type, credential);
	return createGoogleCredential(context, type, credential, sanitizer);
}

/**
 * One user signs in for all items. For an item that does not exist, an expression about the item
 * gives another one.
 * @throws NodeError 400
 */
async function refuseSeveralUsers(
	context: IAllExecuteFunctions,
	type: string,
	{ delegatedEmail }: ICredentialDataDecryptedObject,
) {
	const items = 'getInputData' in context ? (context as IExecuteFunctions).getInputData() : [];
	if (items.length <= 1 || !delegatedEmail) return;
	const missing = await context.getCredentials(type, items.length).catch(() => undefined);
	if (missing?.['delegatedEmail'] === delegatedEmail) return;
	throw createRefusal(
		"'Delegated Email' of the credential depends on the item, but all items use the same user",
		'Nothing was sent. Put a Loop Over Items node before this node, so that each run has one item.',
	);
}

export type GoogleCredential = ReturnType<typeof createGoogleCredential>;

/**
 * Builds a credential of this node, ready to create clients. It has no token, because n8n adds the
 * token to each request.
 */
function createGoogleCredential(
	context: IAllExecuteFunctions,
	type: string,
	credential: ICredentialDataDecryptedObject,
	sanitizer: Sanitizer,
) {
	const { logger } = context;
	const reference = context.getNode().credentials?.[type];
	const credentialKey = reference?.id ?? type;
	// With a new token, the hash is new, too. Whatever was remembered under the old hash is then
	// fetched again.
	const credentialHash = createHash('sha256')
		.update(JSON.stringify([type, credential]))
		.digest('base64');
	const signIn = readSignIn(type, credential);
	const bases = readApiBases(credential);
	const signInEnd = describeSignInEnd(credentialKey, credential);
	const readShared = shareReadings(
		() => readCredential(context, type).catch(throwReadFailure),
		Promise.resolve(credential),
	);
	return {
		signIn,
		/** Loads Google's libraries on first use. */
		async loadClients(
			options: OperationOptions,
			group?: GroupRequestOptions,
		): Promise<Clients> {
			const clientOptions = {
				credentialKey,
				credentialHash,
				signIn,
				signal: getCancelSignal(context),
				log: logger.info.bind(logger),
				...options,
				...group,
			};
			const { signal } = clientOptions;
			const sanitizers = [sanitizer, ...(group?.sanitizers ?? [])];
			const send = bindSender(context, type, { readShared, signal, sanitizers });
			const { createClients } = await import('./clients');
			return createClients(send, bases, clientOptions);
		},
		/** Returns a notice if the sign-in ends soon, and logs it every two days. */
		reportSignInEnd(): string | undefined {
			if (signInEnd === undefined) return undefined;
			const notice = `The Google sign-in of "${reference?.name ?? type}" ${signInEnd}`;
			logNotice(credentialKey, notice, logger.warn.bind(logger));
			return notice;
		},
	};
}

interface SenderSettings {
	/**
	 * Reads the credential at most once a second, because n8n's helper reads it for each request,
	 * and slowly. If the token is replaced in this second, Google answers 401, and n8n repeats the
	 * request with the stored token.
	 */
	readonly readShared: () => Promise<ICredentialDataDecryptedObject>;
	/**
	 * The helper aborts a request when the execution that sends it is stopped. The other runs of a
	 * group still need the request, so a group has a signal of its own.
	 */
	readonly signal: AbortSignal | undefined;
	readonly sanitizers: readonly Sanitizer[];
}

/**
 * Binds n8n's request helper, which reads the credential and the cancel signal from its `this`, to
 * a context with other methods for them.
 */
function bindSender(
	context: IAllExecuteFunctions,
	type: string,
	{ readShared, signal, sanitizers }: SenderSettings,
): RequestSender {
	/** As it was read last. All requests get the same object: n8n writes a new token into it. */
	let credential: ICredentialDataDecryptedObject = {};
	const getCredentials = async (name: string, itemIndex?: number) => {
		if (name !== type) return await context.getCredentials(name, itemIndex);
		credential = await readShared();
		return credential;
	};
	// A copy would lack the methods on the prototype of n8n's class.
	const boundContext = Object.create(context, {
		getCredentials: { value: getCredentials },
		getExecutionCancelSignal: { value: () => signal },
	}) as IAllExecuteFunctions;
	const send = context.helpers.httpRequestWithAuthentication.bind(boundContext, type);
	return async (request) => {
		try {
			return (await send(request)) as FullResponse;
		} finally {
			// Only now, because n8n may have refreshed the token for the request.
			const secrets = findSecrets(credential);
			for (const sanitizer of sanitizers) sanitizer.addSecrets(secrets);
		}
	};
}

const getCancelSignal = (context: IAllExecuteFunctions) =>
	'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;

function readSignIn(type: string, credential: ICredentialDataDecryptedObject): SignIn {
	const driveAccess = getDriveAccess(credential);
	if (type !== 'workspaceOAuth2Api') {
		const { delegatedEmail } = readServiceAccount(credential);
		return { authentication: delegatedEmail ? 'delegation' : 'serviceAccount', driveAccess };
	}
	return { authentication: 'oAuth2', driveAccess };
}

/**
 * Reads a credential, without the token of a service account if it was issued before a change of
 * the credential. n8n would keep it, but asks for a new one if there is none.
 */
async function readCredential(context: IAllExecuteFunctions, type: string) {
	const credential = await context.getCredentials(type);
	const isOutdated =
		type === 'workspaceServiceAccountApi' &&
		credential['issuedFor'] !== hashAccount(credential);
	return isOutdated ? { ...credential, accessToken: '' } : credential;
}

/** Throws the failure for a credential that n8n had read before. */
function throwReadFailure(cause: unknown): never {
	throw new NodeError({
		code: 503,
		message: 'n8n could not read the credential from its database',
		description: "Nothing was sent. Check n8n's database, then try again.",
		retryable: true,
		cause,
	});
}

/**
 * Reads the base addresses from a credential's decrypted data. If a field is empty or hidden,
 * Google's own address is used.
 */
export function readApiBases(credential: Readonly<Record<string, unknown>>): ApiBases {
	const read = (api: Api) => {
		const value = credential[`${api}ApiBase`];
		const base = typeof value === 'string' ? value.trim() : '';
		if (base === '') return googleApiBases[api];
		if (/^https?:\/\/[^?#@]+$/.test(base) && URL.canParse(base))
			return base.replace(/\/+$/, '');
		throw createRefusal(
			`'${api.charAt(0).toUpperCase()}${api.slice(1)} API Base' in the credential is not a valid API URL`,
			`Enter a URL such as ${googleApiBases[api]}, without a query, or leave it empty to use Google's.`,
		);
	};
	return { mail: read('mail'), sheets: read('sheets'), docs: read('docs'), drive: read('drive') };
}
