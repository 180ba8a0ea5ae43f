import { createHash } from 'node:crypto';
import type { IAllExecuteFunctions, ICredentialDataDecryptedObject } from 'n8n-workflow';

import { createRefusal } from '../../core/errors';
import { type Sanitizer, findSecrets } from '../../core/sanitizer';
import type { FullResponse, RequestSender } from '../../http/request';
import type { Api, SignIn } from './advice';
import type { Clients } from './clients';
import { describeSignInEnd, isNewInLog } from './signInEnd';
import { type ApiBases, googleApiBases, type TransportOptions } from './transport';

/** A credential of this node, ready to create clients. It never sees a token: n8n adds it to each request. */
export type GoogleCredential = Awaited<ReturnType<typeof readGoogleCredential>>;

/** The limits of requests, and the operation's advice. */
type CallOptions = Pick<
	TransportOptions,
	'maxTries' | 'maxRetryWaitMilliseconds' | 'timeoutMilliseconds' | 'advice' | 'adviceApis'
>;

/** How requests are sent that serve several runs. */
export interface SharedSending extends Required<Pick<TransportOptions, 'log'>> {
	readonly signal: AbortSignal;
	/** Sanitizers of all these runs, which must replace the secrets that requests are sent with. */
	readonly sanitizers: readonly Sanitizer[];
}

/**
 * @param chosen the value of Authentication
 * @param sanitizer learns the secrets that requests are sent with
 * @throws n8n's error for a credential that is not set, NodeError 400 for a base that is not an address
 */
export async function readGoogleCredential(
	context: IAllExecuteFunctions,
	chosen: unknown,
	sanitizer: Sanitizer,
) {
	const authentication = chosen === 'serviceAccount' ? 'serviceAccount' : 'oAuth2';
	const type = authentication === 'oAuth2' ? 'workspaceOAuth2Api' : 'workspaceServiceAccountApi';
	const credential = await context.getCredentials(type);
	sanitizer.addSecrets(findSecrets(credential));
	const sanitizers = new Set([sanitizer]);
	const sharing = shareCredentialReads(context, type, credential, sanitizers);
	const sendThrough =
		(through: IAllExecuteFunctions): RequestSender =>
		async (request) =>
			(await context.helpers.httpRequestWithAuthentication.call(through, type, request)) as FullResponse;
	const bases = readApiBases(credential);
	const { id, name = type } = context.getNode().credentials?.[type] ?? {};
	const credentialKey = id ?? type;
	const isLimited = describeSignInEnd(credentialKey, credential) !== undefined;
	const signIn: SignIn = { authentication, driveAccess: getDriveAccess(credential) };
	const own = {
		signIn,
		signal: 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined,
		credentialKey,
		log: context.logger.info.bind(context.logger),
		// Changes when the token is refreshed, so that what is known about the account is then asked for again.
		account: createHash('sha256')
			.update(JSON.stringify([type, credential]))
			.digest('base64'),
	};
	return {
		signIn,
		/** Tells that the sign-in ends soon and what to do, and logs it. Call it at the end of a run, because requests refresh the token. */
		async findNotice(): Promise<string | undefined> {
			// Ignores an error here: the work of the run is done, even if n8n cannot read the credential again.
			const latest = isLimited && (await sharing.getCredentials(type).catch(() => undefined));
			const end = latest ? describeSignInEnd(credentialKey, latest) : undefined;
			if (end && isNewInLog(credentialKey)) context.logger.warn(`The Google sign-in of "${name}" ${end}`);
			return end && `The Google sign-in of this node ${end}`;
		},
		/** Loads Google's libraries on first use. */
		loadClients: async (options: CallOptions, shared?: SharedSending): Promise<Clients> => {
			const { createClients } = await import('./clients');
			if (!shared) return createClients(sendThrough(sharing), bases, { ...own, ...options });
			for (const one of shared.sanitizers) sanitizers.add(one);
			// n8n ends a request when the execution that sends it is stopped.
			const getExecutionCancelSignal = { value: () => shared.signal };
			const through = Object.create(sharing, { getExecutionCancelSignal }) as IAllExecuteFunctions;
			const { signal, log } = shared;
			return createClients(sendThrough(through), bases, { ...own, ...options, signal, log });
		},
	};
}

const sharedReadMilliseconds = 1000;

/**
 * Lets requests share a credential for a second, because n8n's helper reads it for each request, which takes longer than everything else.
 * If the token was replaced meanwhile, Google answers 401, and n8n repeats the request with the stored token.
 */
function shareCredentialReads<C extends IAllExecuteFunctions>(
	context: C,
	type: string,
	credential: ICredentialDataDecryptedObject,
	sanitizers: ReadonlySet<Sanitizer>,
): C {
	let read = Promise.resolve(credential);
	let readAt = performance.now();
	const getCredentials: C['getCredentials'] = async <T extends object>(asked: string, itemIndex?: number) => {
		if (asked !== type) return await context.getCredentials<T>(asked, itemIndex);
		const now = performance.now();
		if (now - readAt >= sharedReadMilliseconds) {
			readAt = now;
			read = context.getCredentials(type, itemIndex);
			// All who share the read learn of its failure below; later requests read anew.
			read.catch(() => (readAt = -Infinity));
		}
		// The same object for all: n8n puts a refreshed token into it.
		const shared = await read;
		for (const sanitizer of sanitizers) sanitizer.addSecrets(findSecrets(shared));
		return shared as T;
	};
	// Inherits everything else. A copy would lose what n8n's class has on its prototype.
	return Object.create(context, { getCredentials: { value: getCredentials } }) as C;
}

/** Finds out how much of Drive the sign-in sees. With custom scopes, the scopes decide. */
export function getDriveAccess(credential: Readonly<Record<string, unknown>>): SignIn['driveAccess'] {
	const { driveAccess, customScopes, enabledScopes } = credential;
	if (customScopes !== true) {
		return driveAccess === 'allFiles' || driveAccess === 'appFiles' ? driveAccess : 'appFilesAndNames';
	}
	const scopes = typeof enabledScopes === 'string' ? enabledScopes.split(/\s+/) : [];
	const hasScope = (name: string) => scopes.includes(`https://www.googleapis.com/auth/${name}`);
	if (hasScope('drive')) return 'allFiles';
	const seesNames = ['drive.metadata', 'drive.metadata.readonly', 'drive.readonly'].some(hasScope);
	return seesNames ? 'appFilesAndNames' : 'appFiles';
}

/** Base addresses from a credential's decrypted data. An empty or hidden field means Google's own address. */
export function readApiBases(credential: Readonly<Record<string, unknown>>): ApiBases {
	const read = (api: Api) => {
		const value = credential[`${api}ApiBase`];
		const given = typeof value === 'string' ? value.trim() : '';
		if (given === '') return googleApiBases[api];
		const url = URL.canParse(given) ? new URL(given) : undefined;
		const isUsable =
			url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password;
		if (isUsable) return given.replace(/\/+$/, '');
		throw createRefusal(
			`'${api.charAt(0).toUpperCase()}${api.slice(1)} API Base' in the credential is not a valid API URL`,
			`Enter a URL such as ${googleApiBases[api]}, without a query, or leave it empty to use Google's.`,
		);
	};
	return { mail: read('mail'), sheets: read('sheets'), docs: read('docs'), drive: read('drive') };
}
