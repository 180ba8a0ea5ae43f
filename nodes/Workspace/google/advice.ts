import { isRedirect } from '../../core/errors';
import { shorten } from '../../core/text';
import { quoteField } from '../../fields/field';

/** Google's services. Gmail is called `mail`, as the resource that uses it. */
export type Api = 'mail' | 'sheets' | 'docs' | 'drive';

/** The conditions for advice. All that are set must be true. */
interface AdviceConditions {
	/** The failed request must be to one of these services. */
	readonly api?: readonly Api[];
	/** Must match `GoogleError.searchText`. The status is not part of it, because every 403 has the status PERMISSION_DENIED. */
	readonly pattern?: RegExp;
	readonly authentication?: SignIn['authentication'];
	/** The sign-in must be one from which Drive hides files. */
	readonly hidesFiles?: true;
	/** The request must create something. Its address then has no ID. */
	readonly creates?: true;
}

/** The services that open any file of the account by its ID, whatever Drive Access says. */
const editorApis: readonly Api[] = ['sheets', 'docs'];
const serviceAccount = { authentication: 'serviceAccount' } as const;
const editorFileNouns: Partial<Record<Api, string>> = {
	sheets: 'a spreadsheet',
	docs: 'a document',
};
const appFilesOnlyText =
	'Google shows this sign-in only files that this app created. To use others, set Drive Access to All Files in the credential';

const tooLargeText = 'The request is larger than Google accepts. Send less at once.';
export const checkBasesAdvice = 'Check the API bases in the credential and any proxy in between.';
const seeMessageText = 'The message says why Google refused this.';
const noReasonText = `Google gave no reason. ${checkBasesAdvice}`;
const noTokenText = `The request reached Google without its token. ${checkBasesAdvice}`;
const quotaAdvice: ReadonlyArray<readonly [AdviceConditions, string]> = [
	[
		{ pattern: /dailyLimitExceeded|quotaExceeded|\bdaily [\w ]*limit|\bper day\b/i },
		"A quota of the Google account or of the credential's Google Cloud project is used up. Try again tomorrow, or ask Google for a higher quota.",
	],
	[
		{ pattern: /automated queries/i },
		"Google temporarily blocks this machine's IP address. Send fewer requests, and try again later.",
	],
];

/** What the user can do, by status. The first row that fits counts. The link above a row shows such a response. */
export const adviceTable: Readonly<
	Record<number, ReadonlyArray<readonly [AdviceConditions, string]>>
> = {
	400: [
		// https://github.com/burnash/gspread/issues/732
		[
			{ api: ['sheets'], pattern: /operation is not supported for this document/i },
			'This file is not a Google spreadsheet. If it is a Google document, choose Document as the resource. If it is an Excel file, open it in Google Drive, choose File > Save as Google Sheets, and use the new file.',
		],
		[
			{ api: ['docs'], pattern: /operation is not supported for this document/i },
			'This file is not a Google document. If it is a Google spreadsheet, choose Spreadsheet as the resource. If it is a Word file, open it in Google Drive, choose File > Save as Google Docs, and use the new file.',
		],
		// https://github.com/googleapis/google-api-nodejs-client/issues/2322
		[
			{
				api: ['mail'],
				pattern: /precondition check failed|mail service not enabled/i,
				...serviceAccount,
			},
			'A service account has no mailbox of its own. In the credential, enter the user to act for as Delegated Email, and have an administrator allow domain-wide delegation for the scopes.',
		],
		[
			{ pattern: /mail service not enabled/i },
			'This Google account has no Gmail mailbox. Sign in with one that has.',
		],
		[
			{
				pattern:
					/parse range|grid limits|within range|invalid range|outside (?:of )?the (?:range|grid)|no grid with/i,
			},
			`Check ${quoteField('range')}: the tab must exist, and the range must be within its rows and columns. To write below the last row, use Append, which adds rows.`,
		],
		// https://github.com/burnash/gspread/issues/1031
		[
			{ pattern: /protected (?:cell|range|sheet)/i },
			'The cells are protected. Ask the owner of the spreadsheet to let this account edit them (Data > Protect sheets and ranges), or write to other cells.',
		],
		// https://support.google.com/drive/answer/37603
		[
			{ pattern: /limit of 10,?000,?000 cells/i },
			'A spreadsheet can hold up to 10 million cells, including empty ones. Delete rows, columns or tabs that are not needed, or start a new spreadsheet.',
		],
		// https://github.com/asimlqt/php-google-spreadsheet-client/issues/170
		[
			{ pattern: /sheet with the name .* already exists/i },
			'Each tab of a spreadsheet needs a name of its own. Use another one.',
		],
		[
			{ pattern: /connected sheet/i },
			'Google Sheets does not allow changes to a connected sheet. Use another tab.',
		],
		[
			{ pattern: /typed column/i },
			'A column of this table accepts only one type of value. Change the value, or the type of the column in Google Sheets.',
		],
		[
			{ pattern: /maximum of 50,?000 char/i },
			'Shorten the text of the cell, or put it into a document.',
		],
		// https://github.com/jlolling/talendcomp_tGoogleSheet/issues/1
		[{ pattern: /(?:payload|message) size exceeds|uploadTooLarge/i }, tooLargeText],
		[
			{ pattern: /revision/i },
			'The document was changed in the meantime, so nothing was written. Read it again if the content depends on it, then run this again.',
		],
		[
			{ pattern: /retriev\w+ the image|image should be publicly/i },
			`Google could not fetch an image. It must be a PNG, JPEG or GIF at an address that anyone can open. To write links instead, remove the option ${quoteField('insertImages')}.`,
		],
	],
	401: [[{ pattern: /CREDENTIALS_MISSING/ }, noTokenText]],
	403: [
		// https://github.com/xing5/mcp-google-sheets/issues/24
		[
			{
				api: editorApis,
				pattern: /caller does not have permission/i,
				creates: true,
				...serviceAccount,
			},
			'A service account has no Drive of its own to create files in. Choose a Parent Folder in a shared drive that it can write to, or enter a Delegated Email in the credential.',
		],
		// https://github.com/googleapis/google-api-ruby-client/issues/461
		[
			{ api: editorApis, pattern: /caller does not have permission/i, ...serviceAccount },
			"Share the file with the service account's email address, which is in the credential (with the Editor role to write to it), or enter a Delegated Email in the credential.",
		],
		// https://github.com/n8n-io/n8n/issues/26050
		[
			{ pattern: /storageQuotaExceeded/, ...serviceAccount },
			'A service account has no storage of its own. Choose a folder in a shared drive, enter a Delegated Email in the credential, or sign in with a Google account instead.',
		],
		// https://developers.google.com/workspace/drive/api/guides/handle-errors
		[
			{ pattern: /storageQuotaExceeded/ },
			'The storage of this Google account is full. Free up space or use another folder.',
		],
		// https://developers.google.com/workspace/drive/api/guides/manage-downloads
		[
			{ api: ['drive'], pattern: /exportSizeLimitExceeded/ },
			'Google exports at most 10 MB as a file. Make the document smaller, or read it as text.',
		],
		// https://github.com/iterative/PyDrive2/issues/192
		[
			{ api: ['drive'], pattern: /has not granted the app/i, authentication: 'oAuth2' },
			`${appFilesOnlyText} and reconnect (Switch account).`,
		],
		[
			{
				pattern:
					/domainPolicy|SECURITY_POLICY_VIOLATED|vpcServiceControls|organization's policy/i,
			},
			"A policy of the organization doesn't allow this. Show this message to its Google Workspace or Google Cloud administrator.",
		],
		[{ pattern: /dailyLimitExceededUnreg|unregistered callers/ }, noTokenText],
		...quotaAdvice,
		[
			{
				pattern:
					/teamDriveFileLimitExceeded|numChildrenInNonRootLimitExceeded|activeItemCreationLimitExceeded|Hierarchy/,
			},
			'The folder, shared drive or account cannot hold more files or levels of folders. Use another folder, or remove files that are not needed and empty the trash.',
		],
		[
			{ pattern: /parentNotAFolder/ },
			`${quoteField('parentFolder')} is a file or a shortcut. Choose the folder itself.`,
		],
		// https://github.com/GAM-team/GAM/issues/1270
		[
			{ pattern: /cannotAddParent/ },
			'A file can be in one folder only. Enter one folder, or move the existing file to it in Google Drive first.',
		],
		[
			{ pattern: /delegation denied/i },
			'The sign-in may not act for this mailbox. Sign in as its user, or enter the user as Delegated Email of a service account with domain-wide delegation.',
		],
		[
			{ pattern: /metadata scope/i },
			'The token has the scope gmail.metadata, which does not allow this. Remove that scope from the credential and reconnect.',
		],
	],
	404: [
		// https://developers.google.com/workspace/drive/api/guides/handle-errors
		[
			{ api: ['drive'], hidesFiles: true, ...serviceAccount },
			`${appFilesOnlyText}, and share the file with the service account.`,
		],
		[
			{ api: ['drive'], hidesFiles: true },
			`${appFilesOnlyText} and reconnect (Switch account).`,
		],
		// https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors
		[
			{ api: ['sheets', 'docs', 'drive'] },
			'Check the ID, and that the file is shared with the account of the credential. The ID of another kind of file does not work here.',
		],
	],
	429: quotaAdvice,
};

export const apiNames: Readonly<Record<Api, string>> = {
	mail: 'Gmail',
	sheets: 'Google Sheets',
	docs: 'Google Docs',
	drive: 'Google Drive',
};

/** What Google said about a failed request, in one form for the several formats of its services. */
export interface GoogleError {
	/** Google's own message, at most 500 characters. */
	readonly message: string | undefined;
	/** The status as a word, such as `NOT_FOUND`, if the service sends it. */
	readonly status: string | undefined;
	/** All of `errors[].reason` and `details[].reason`, then the message, separated by spaces. */
	readonly searchText: string;
	/** Whether Google refused the request because of a rate limit, for which Google uses several statuses. */
	readonly isRateLimit: boolean;
	/** The address where the user can enable the API, if Google sends one. */
	readonly activationUrl: string | undefined;
}

/** Finds what the user can do. Appends the operation's own advice for the status, unless Google's reason or message has shown the cause. */
export function findAdvice(statusCode: number, error: GoogleError, request: RequestFacts): string {
	// Google's services have a message for what they do not find. A 404 without a message comes from a wrong base address.
	if (statusCode === 404 && !error.message) return noReasonText;
	const row = adviceTable[statusCode]?.find(([rowConditions]) =>
		isApplicable(rowConditions, error, request),
	);
	const [conditions, rowAdvice] = row ?? [];
	if (error.isRateLimit && !row)
		return `Google limits the number of requests per minute. Send fewer requests at once, or raise the option ${quoteField('maxRetryWaitSeconds')}.`;
	// A row with a pattern already names the cause.
	const operationAdvice = conditions?.pattern ? undefined : request.adviceByStatus?.[statusCode];
	const sentences =
		statusCode === 404
			? buildNotFoundAdvice(error, request, rowAdvice)
			: [rowAdvice ?? findGeneralAdvice(statusCode, error, request), operationAdvice];
	return sentences.filter(Boolean).join(' ');
}

function isApplicable(
	conditions: AdviceConditions,
	error: GoogleError,
	request: RequestFacts,
): boolean {
	const { api, pattern, authentication, hidesFiles, creates } = conditions;
	return (
		(api?.includes(request.api) ?? true) &&
		(pattern?.test(error.searchText) ?? true) &&
		(authentication === undefined || authentication === request.signIn.authentication) &&
		(!hidesFiles || request.signIn.driveAccess !== 'allFiles') &&
		(!creates || (request.method === 'POST' && findIdInUrl(request.url) === undefined))
	);
}

function findGeneralAdvice(statusCode: number, error: GoogleError, request: RequestFacts) {
	if (statusCode === 403) return findForbiddenAdvice(error, request);
	if (statusCode === 401) return getReconnectAdvice(request.signIn);
	if (statusCode === 409 && error.status !== 'ABORTED')
		return 'Something with this ID already exists.';
	if (statusCode === 409 || statusCode === 412)
		return 'Somebody changed the file or email in the meantime. Read it again and repeat the change.';
	if (statusCode === 413) return tooLargeText;
	if (isRedirect(statusCode))
		return 'Redirects are not followed, because they could send the token to another host. Check the API bases in the credential.';
	if (statusCode >= 500 || statusCode === 408)
		return 'Google reported a temporary problem. Try again later.';
	// The operation's own advice is more specific.
	if (request.adviceByStatus?.[statusCode]) return undefined;
	if (!error.message) return noReasonText;
	return statusCode === 400 ? 'Check the parameters of this item.' : seeMessageText;
}

function findForbiddenAdvice(error: GoogleError, request: RequestFacts): string {
	const { searchText, message, activationUrl } = error;
	if (/accessNotConfigured|SERVICE_DISABLED/.test(searchText)) {
		const place = activationUrl ?? "the API library of the credential's Google Cloud project";
		return `Enable the ${apiNames[request.api]} API in ${place}, wait a few minutes and try again.`;
	}
	if (/insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT/.test(searchText))
		return `The credential lacks the scope ${findNeededScope(request)}. ${getGrantScopeAdvice(request.signIn)}`;
	if (
		/forbidden|permission/i.test(searchText) &&
		!/\b(?:CONSUMER|USER_PROJECT)_/.test(searchText)
	) {
		const id = findIdInUrl(request.url);
		return `This account doesn't have permission to do that${id ? ` with ${id}` : ''}. Ask the owner to share it, or use a credential that does.`;
	}
	return message ? seeMessageText : noReasonText;
}

/** Returns sentences that name what Google does not find: by the ID in Google's message, which may be a folder's, or in the address. */
function buildNotFoundAdvice(
	{ message = '' }: GoogleError,
	request: RequestFacts,
	rowAdvice?: string,
) {
	const { pathname } = new URL(request.url);
	const idInMessage = /not found: ([\w-]+)/.exec(message)?.[1];
	const fileId = /\/(?:spreadsheets|documents|files)\/([^/:]+)/.exec(pathname)?.[1];
	const id = idInMessage ?? fileId ?? findIdInUrl(request.url);
	// The operation's advice for a 404 is about a folder or an email, so it does not fit a spreadsheet or document.
	const operationAdvice = editorApis.includes(request.api)
		? undefined
		: request.adviceByStatus?.[404];
	const advice = pathname.endsWith(`/${id}/copy`)
		? `Check ${quoteField('templateId')}.`
		: operationAdvice;
	if (id === undefined) return [rowAdvice ?? 'Check the ID of this item.', advice];
	// Every ID of a file at Google has a digit or at least 25 characters.
	if (!/\d/.test(id) && id.length < 25)
		return [
			`'${shorten(id, 60)}' is not an ID. If it is a title, enter the ID or the URL instead.`,
			advice,
		];
	const noun = editorFileNouns[request.api] ?? 'anything';
	return [`This account cannot find ${noun} with the ID ${id}.`, rowAdvice, advice];
}

export function getReconnectAdvice({ authentication }: SignIn): string {
	return authentication === 'serviceAccount'
		? "Check the service account's email and key. If you use a Delegated Email, check that an administrator has allowed the scopes for this account."
		: 'Open the credential and reconnect it: sign in to Google again.';
}

function getGrantScopeAdvice({ authentication }: SignIn): string {
	const includeScopeText =
		'In the credential, choose the Mail Access or Drive Access that includes it (or add it under Custom Scopes)';
	return authentication === 'serviceAccount'
		? `${includeScopeText}. If you use a Delegated Email, also add it to the domain-wide delegation.`
		: `${includeScopeText}, reconnect (Switch account), and select every checkbox on the consent page.`;
}

/** Finds the narrowest of the package's scopes that allows a request. */
export function findNeededScope({ api, method, url, signIn }: RequestFacts): string {
	const { pathname } = new URL(url);
	// With All Files, the sign-in should have the scope `drive`. Listing shared drives (`/drives`) needs this scope, too.
	const mustSeeAllFiles = signIn.driveAccess === 'allFiles' || pathname.endsWith('/drives');
	const scopes: Readonly<Record<Api, string>> = {
		mail: findMailScope(method, pathname),
		sheets: 'spreadsheets',
		docs: 'documents',
		drive: mustSeeAllFiles ? 'drive' : 'drive.file',
	};
	return `https://www.googleapis.com/auth/${scopes[api]}`;
}

function findMailScope(method: string, pathname: string): string {
	if (method === 'GET') return 'gmail.readonly';
	if (pathname.endsWith('/drafts')) return 'gmail.compose';
	return pathname.endsWith('/batchModify') ? 'gmail.modify' : 'gmail.send';
}

/** Finds the ID that a request was about. It is the first segment of the path with a digit and 10 to 200 of the characters of an ID. */
function findIdInUrl(url: string): string | undefined {
	const segments = new URL(url).pathname.split(/[/:]/);
	return segments.find(
		(segment) => /^[A-Za-z0-9_-]{10,200}$/.test(segment) && /\d/.test(segment),
	);
}

/** What error texts need to know about the sign-in of the node. */
export interface SignIn {
	readonly authentication: 'oAuth2' | 'serviceAccount';
	/** How much of Drive the sign-in sees: the files of the app, also the names of all other files, or all files. */
	readonly driveAccess: 'appFiles' | 'appFilesAndNames' | 'allFiles';
}

/** What error texts need to know about a request. */
export interface RequestFacts {
	readonly api: Api;
	readonly method: string;
	/** The address of the request, with IDs and query. */
	readonly url: string;
	readonly signIn: SignIn;
	/** The operation's own advice, by HTTP status. */
	readonly adviceByStatus?: Readonly<Record<number, string>>;
}
