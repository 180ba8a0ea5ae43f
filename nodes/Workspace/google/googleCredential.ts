import { createHash } from 'node:crypto';
import type { IAllExecuteFunctions, ICredentialDataDecryptedObject } from 'n8n-workflow';

import { shareReadings } from '../../core/clock';
import { createRefusal } from '../../core/errors';
import { type Sanitizer, findSecrets } from '../../core/sanitizer';
import type { FullResponse, RequestSender } from '../../http/attempt';
import { getProperty } from '../../http/networkErrors';
import type { Api, SignIn } from './advice';
import type { Clients } from './clients';
import { describeSignInEnd, claimNoticeLogging } from './signInEnd';
import { type ApiBases, googleApiBases, type TransportOptions } from './transport';

/** A credential of this node, ready to create clients. It has no token, because n8n adds the token to each request. */
export type GoogleCredential = Awaited<ReturnType<typeof readGoogleCredential>>;

/** What depends on the operation: the limits of its requests, and its advice. */
type OperationOptions = Pick<
	TransportOptions,
	'maxRetryWaitMilliseconds' | 'timeoutMilliseconds' | 'adviceByStatus' | 'adviceIsAboutMail'
>;

/** How to send the requests of a group, which serve several runs. */
export interface GroupRequestOptions extends Required<Pick<TransportOptions, 'log'>> {
	readonly signal: AbortSignal;
	/** The sanitizers of all these runs. Each must know the secrets of the credential with which the requests are sent. */
	readonly sanitizers: readonly Sanitizer[];
}

/**
 * Reads the node's Google credential, and adds its secrets to the sanitizer.
 * @param choice the value of the field Authentication
 * @throws n8n's error if the node has no credential, NodeError 400 if an API base is not an address
 */
export async function readGoogleCredential(
	context: IAllExecuteFunctions,
	choice: unknown,
	sanitizer: Sanitizer,
) {
	const type = choice === 'serviceAccount' ? 'workspaceServiceAccountApi' : 'workspaceOAuth2Api';
	const credential = await context.getCredentials(type);
	sanitizer.addSecrets(findSecrets(credential));
	const sanitizers = new Set([sanitizer]);
	const cachingContext = cacheCredentialReads(context, type, credential, sanitizers);
	const bases = readApiBases(credential);
	const defaults = buildDefaultOptions(context, type, credential);
	return {
		signIn: defaults.signIn,
		reportSignInEnd: createSignInEndReport(cachingContext, type, credential),
		/** Loads Google's libraries on first use. */
		async loadClients(
			options: OperationOptions,
			group?: GroupRequestOptions,
		): Promise<Clients> {
			for (const runSanitizer of group?.sanitizers ?? []) sanitizers.add(runSanitizer);
			const clientOptions = { ...defaults, ...options, ...group };
			const send = bindSender(cachingContext, type, clientOptions.signal);
			const { createClients } = await import('./clients');
			return createClients(send, bases, clientOptions);
		},
	};
}

function buildDefaultOptions(
	context: IAllExecuteFunctions,
	type: string,
	credential: ICredentialDataDecryptedObject,
) {
	const authentication = type === 'workspaceOAuth2Api' ? 'oAuth2' : 'serviceAccount';
	const token = getProperty(credential['oauthTokenData'], 'access_token');
	const hasNoToken = authentication === 'oAuth2' && typeof token !== 'string';
	const signIn: SignIn = {
		authentication,
		driveAccess: getDriveAccess(credential),
		hasNoToken,
	};
	const credentialJson = JSON.stringify([type, credential]);
	return {
		signIn,
		signal:
			'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined,
		credentialKey: context.getNode().credentials?.[type]?.id ?? type,
		log: context.logger.info.bind(context.logger),
		// With a new token, the hash is new, too. Whatever was remembered under the old hash is then fetched again.
		credentialHash: createHash('sha256').update(credentialJson).digest('base64'),
	};
}

/**
 * Binds n8n's request helper, which reads the credential and the cancel signal from its `this`. The helper aborts a request when the execution
 * that sends it is stopped. The other runs of a group still need the request, so a group has a signal of its own.
 */
function bindSender(
	context: IAllExecuteFunctions,
	type: string,
	signal: AbortSignal | undefined,
): RequestSender {
	const getExecutionCancelSignal = { value: () => signal };
	const thisArg = Object.create(context, { getExecutionCancelSignal }) as IAllExecuteFunctions;
	const send = context.helpers.httpRequestWithAuthentication.bind(thisArg, type);
	return async (request) => (await send(request)) as FullResponse;
}

/**
 * Creates a function that returns and, every two days, logs a notice if the sign-in ends soon. Call it after the requests, which may refresh
 * the token.
 */
function createSignInEndReport(
	context: IAllExecuteFunctions,
	type: string,
	credential: ICredentialDataDecryptedObject,
) {
	const { id, name = type } = context.getNode().credentials?.[type] ?? {};
	const key = id ?? type;
	// Before the requests, because this also remembers the token, to compare it with the one that they may bring.
	const endsSoon = describeSignInEnd(key, credential) !== undefined;
	return async (): Promise<string | undefined> => {
		if (!endsSoon) return undefined;
		const endText = describeSignInEnd(key, await context.getCredentials(type));
		if (endText === undefined) return undefined;
		if (claimNoticeLogging(key))
			context.logger.warn(`The Google sign-in of "${name}" ${endText}`);
		return `The Google sign-in of this node ${endText}`;
	};
}

/**
 * Builds a context that reads the credential at most once a second, because n8n's helper reads it for each request, and slowly. If the
 * token is replaced in this second, Google answers 401, and n8n repeats the request with the stored token.
 */
function cacheCredentialReads<C extends IAllExecuteFunctions>(
	context: C,
	type: string,
	credential: ICredentialDataDecryptedObject,
	sanitizers: ReadonlySet<Sanitizer>,
): C {
	const readShared = shareReadings(
		() => context.getCredentials(type),
		Promise.resolve(credential),
	);
	const getCredentials: C['getCredentials'] = async <T extends object>(
		name: string,
		itemIndex?: number,
	) => {
		if (name !== type) return await context.getCredentials<T>(name, itemIndex);
		// All requests get the same object, because n8n writes a refreshed token into it.
		const currentCredential = await readShared();
		for (const sanitizer of sanitizers) sanitizer.addSecrets(findSecrets(currentCredential));
		return currentCredential as T;
	};
	// The new object inherits everything else. A copy would lack the methods on the prototype of n8n's class.
	return Object.create(context, { getCredentials: { value: getCredentials } }) as C;
}

/** Finds out how much of Drive the sign-in sees. With custom scopes, the scopes decide. */
export function getDriveAccess(
	credential: Readonly<Record<string, unknown>>,
): SignIn['driveAccess'] {
	const { driveAccess, customScopes, enabledScopes } = credential;
	if (customScopes !== true) {
		const isKnown = driveAccess === 'allFiles' || driveAccess === 'appFiles';
		return isKnown ? driveAccess : 'appFilesAndNames';
	}
	const scopes = String(enabledScopes);
	if (/auth\/drive(\s|$)/.test(scopes)) return 'allFiles';
	// `drive.readonly` may read all files, but it cannot change them. So only the files of the app count as accessible.
	return /auth\/drive\.(metadata|readonly)/.test(scopes) ? 'appFilesAndNames' : 'appFiles';
}

/** Reads the base addresses from a credential's decrypted data. If a field is empty or hidden, Google's own address is used. */
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
