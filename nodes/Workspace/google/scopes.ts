import type { Api } from './endpoints';

/** What error texts need to know about the sign-in of the node. */
export interface SignIn {
	/** With `delegation`, a service account acts for the user in Delegated Email. */
	readonly authentication: 'oAuth2' | 'serviceAccount' | 'delegation';
	/**
	 * How much of Drive the sign-in sees: the files of the app, also the names of all other files,
	 * or all files.
	 */
	readonly driveAccess: 'appFiles' | 'appFilesAndNames' | 'allFiles';
}

const toScope = (name: string) => `https://www.googleapis.com/auth/${name}`;
const joinScopes = (...names: string[]) => names.map(toScope).join(' ');

export const fileScopes = joinScopes('spreadsheets', 'documents');

/** The scopes that each choice of a credential adds. */
export const scopesByChoice = {
	sendAndRead: joinScopes('gmail.send', 'gmail.readonly'),
	draftsToo: joinScopes('gmail.send', 'gmail.readonly', 'gmail.compose'),
	labelsToo: joinScopes('gmail.modify'),
	appFiles: joinScopes('drive.file'),
	appFilesAndNames: joinScopes('drive.file', 'drive.metadata.readonly'),
	allFiles: joinScopes('drive'),
};

/** Builds the beginning of a conditional expression, up to the result for this choice. */
const buildScopeCase = (field: string, choice: keyof typeof scopesByChoice) =>
	`$self["${field}"] === "${choice}" ? "${scopesByChoice[choice]}"`;

const mailExpression = `${buildScopeCase('mailAccess', 'draftsToo')} : ${buildScopeCase('mailAccess', 'labelsToo')} : "${scopesByChoice.sendAndRead}"`;
const driveExpression = `${buildScopeCase('driveAccess', 'allFiles')} : ${buildScopeCase('driveAccess', 'appFiles')} : "${scopesByChoice.appFilesAndNames}"`;

/**
 * The requested scopes: the user's own list, or the narrowest ones for all operations with the
 * chosen access.
 */
export const chosenScopesExpression = `={{$self["customScopes"] ? $self["enabledScopes"] : (${mailExpression}) + " ${fileScopes} " + (${driveExpression})}}`;

/** Matches a list of scopes if at least one of them allows reading the Gmail profile. */
export const mailScopePattern = /mail\.google\.com|gmail\.(compose|metadata|modify|readonly)/;

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
	// `drive.readonly` may read all files, but it cannot change them. So only the files of the app
	// count as accessible.
	return /auth\/drive\.(metadata|readonly)/.test(scopes) ? 'appFilesAndNames' : 'appFiles';
}

/** A request that needs a scope. */
export interface ScopedRequest {
	readonly api: Api;
	readonly method: string;
	/** The address of the request, with IDs and query. */
	readonly url: string;
	readonly signIn: SignIn;
}

/** Finds the narrowest of the package's scopes that allows a request. */
export function findNeededScope({ api, method, url, signIn }: ScopedRequest): string {
	const { pathname } = new URL(url);
	if (api === 'sheets') return toScope('spreadsheets');
	if (api === 'docs') return toScope('documents');
	if (api === 'mail') return toScope(findMailScope(method, pathname));
	// With All Files, the sign-in should have the scope `drive`. Listing shared drives (`/drives`)
	// needs this scope, too.
	const mustSeeAllFiles = signIn.driveAccess === 'allFiles' || pathname.endsWith('/drives');
	return toScope(mustSeeAllFiles ? 'drive' : 'drive.file');
}

/**
 * Says what to choose in the credential to get a scope. Undefined for a scope that comes with each
 * choice.
 */
export function describeChoiceFor(scope: string): string | undefined {
	if (scope === toScope('gmail.compose')) return 'set Mail Access to at least Also Save Drafts';
	if (scope === toScope('gmail.modify'))
		return 'set Mail Access to Also Save Drafts and Change Labels';
	if (scope === toScope('drive')) return 'set Drive Access to All Files';
	return undefined;
}

function findMailScope(method: string, pathname: string): string {
	if (method === 'GET') return 'gmail.readonly';
	if (pathname.endsWith('/drafts')) return 'gmail.compose';
	return pathname.endsWith('/batchModify') ? 'gmail.modify' : 'gmail.send';
}
