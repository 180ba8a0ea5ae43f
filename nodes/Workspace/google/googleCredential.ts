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
): Promise<GoogleCredential> {
	const type = choice === 'serviceAccount' ? 'workspaceServiceAccountApi' : 'workspaceOAuth2Api';
	const credential = await readCredential(context, type);
	sanitizer.addSecrets(findSecrets(credential));
	// Nobody has signed in yet. n8n would report that without a code that says so.
	if (type === 'workspaceOAuth2Api' && !getProperty(credential['oauthTokenData'], 'access_token'))
		throw createTokenError({ authentication: 'oAuth2' }, false);
	await refuseSeveralUsers(context, type, credential);
	return new GoogleCredential(context, type, credential, sanitizer);
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

/**
 * A credential of this node, ready to create clients. It has no token, because n8n adds the token
 * to each request.
 */
export class GoogleCredential {
	readonly signIn: SignIn;
	readonly #context: IAllExecuteFunctions;
	readonly #type: string;
	readonly #sanitizers: Set<Sanitizer>;
	/** As it was read last. n8n writes a refreshed token into it. */
	#credential: ICredentialDataDecryptedObject;
	readonly #bases: ApiBases;
	/**
	 * With a new token, the hash is new, too. Whatever was remembered under the old hash is then
	 * fetched again.
	 */
	readonly #identity: { readonly credentialKey: string; readonly credentialHash: string };
	/** When the sign-in ends, if it ends soon. */
	readonly #signInEnd: string | undefined;

	constructor(
		context: IAllExecuteFunctions,
		type: string,
		credential: ICredentialDataDecryptedObject,
		sanitizer: Sanitizer,
	) {
		const credentialKey = context.getNode().credentials?.[type]?.id ?? type;
		const credentialHash = createHash('sha256')
			.update(JSON.stringify([type, credential]))
			.digest('base64');
		this.signIn = readSignIn(type, credential);
		this.#sanitizers = new Set([sanitizer]);
		this.#credential = credential;
		this.#context = this.#cacheCredentialReads(context, type, credential);
		this.#type = type;
		this.#bases = readApiBases(credential);
		this.#identity = { credentialKey, credentialHash };
		this.#signInEnd = describeSignInEnd(credentialKey, credential);
	}

	/** Loads Google's libraries on first use. */
	async loadClients(options: OperationOptions, group?: GroupRequestOptions): Promise<Clients> {
		for (const runSanitizer of group?.sanitizers ?? []) this.#sanitizers.add(runSanitizer);
		const { logger } = this.#context;
		const clientOptions = {
			...this.#identity,
			signIn: this.signIn,
			signal: getCancelSignal(this.#context),
			log: logger.info.bind(logger),
			...options,
			...group,
		};
		const { createClients } = await import('./clients');
		return createClients(this.#bindSender(clientOptions.signal), this.#bases, clientOptions);
	}

	/**
	 * Binds n8n's request helper, which reads the credential and the cancel signal from its `this`.
	 * The helper aborts a request when the execution that sends it is stopped. The other runs of a
	 * group still need the request, so a group has a signal of its own.
	 */
	#bindSender(signal: AbortSignal | undefined): RequestSender {
		const context = override(this.#context, 'getExecutionCancelSignal', () => signal);
		const send = context.helpers.httpRequestWithAuthentication.bind(context, this.#type);
		return async (request) => {
			try {
				return (await send(request)) as FullResponse;
			} finally {
				// Only now, because n8n may have refreshed the token for the request.
				const secrets = findSecrets(this.#credential);
				for (const sanitizer of this.#sanitizers) sanitizer.addSecrets(secrets);
			}
		};
	}

	/**
	 * Builds a context that reads the credential at most once a second, because n8n's helper reads
	 * it for each request, and slowly. If the token is replaced in this second, Google answers 401,
	 * and n8n repeats the request with the stored token.
	 */
	#cacheCredentialReads(
		context: IAllExecuteFunctions,
		type: string,
		credential: ICredentialDataDecryptedObject,
	): IAllExecuteFunctions {
		const readShared = shareReadings(
			() => readCredential(context, type).catch(throwReadFailure),
			Promise.resolve(credential),
		);
		return override(context, 'getCredentials', async (name: string, itemIndex?: number) => {
			if (name !== type) return await context.getCredentials(name, itemIndex);
			// All requests get the same object, because n8n writes a refreshed token into it.
			this.#credential = await readShared();
			return this.#credential;
		});
	}

	/** Returns a notice if the sign-in ends soon, and logs it every two days. */
	reportSignInEnd(): string | undefined {
		if (this.#signInEnd === undefined) return undefined;
		const { logger } = this.#context;
		const name = this.#context.getNode().credentials?.[this.#type]?.name ?? this.#type;
		const notice = `The Google sign-in of "${name}" ${this.#signInEnd}`;
		logNotice(this.#identity.credentialKey, notice, logger.warn.bind(logger));
		return notice;
	}
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
 * Builds a context with another method. It inherits everything else. A copy would lack the methods
 * on the prototype of n8n's class.
 */
const override = <C extends IAllExecuteFunctions>(context: C, name: string, value: unknown) =>
	Object.create(context, { [name]: { value } }) as C;

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
