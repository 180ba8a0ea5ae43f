import { isRedirect } from '../../core/errors';
import { quoteField } from '../../fields/field';

/** Google's services, by the part of the node that calls them. */
export type Api = 'mail' | 'sheets' | 'docs' | 'drive';

/** One kind of refusal and what the user can do about it. */
interface AdviceRow {
	/** Services that the row applies to; any service when absent. */
	readonly api?: readonly Api[];
	readonly status: number;
	/** Any one of these must be in `errors[].reason` or `details[].reason`. */
	readonly reasons?: readonly string[];
	/** Matches Google's own message. */
	readonly message?: RegExp;
	readonly authentication?: SignIn['authentication'];
	/** Applies only to sign-ins that Drive hides files from. */
	readonly hidesFiles?: true;
	/** Applies only to calls that create something, and so name no file. */
	readonly creates?: true;
	readonly advice: string;
}

const fileApis: readonly Api[] = ['sheets', 'docs'];
const appFilesOnlyText = 'With App Files, the node sees only files that this app created';

const tooLargeText = 'The request is larger than Google accepts. Send less at once.';
const readMessageText = 'The message says why Google refused this.';
const noReasonText = 'Google gave no reason. Check the API bases in the credential and any proxy in between.';
const noTokenText =
	'The request reached Google without its token. Check the API bases in the credential and any proxy in between.';
const quotaAdvice = [
	[
		/dailyLimitExceeded|quotaExceeded|\bdaily [\w ]*limit|\bper day\b/i,
		"A quota of the Google account or of the credential's Google Cloud project is used up. Try again tomorrow, or ask Google for a higher quota.",
	],
	[
		/automated queries/i,
		"Google blocks this machine's IP address for a while. Send fewer requests, and try again later.",
	],
] as const;

/** The first row that fits applies. The link above one or more rows reports or documents such a response. */
export const adviceTable: readonly AdviceRow[] = [
	// https://github.com/burnash/gspread/issues/732
	{
		api: fileApis,
		status: 400,
		message: /operation is not supported for this document/i,
		advice:
			'This is an Office file (such as .xlsx or .docx) that was never converted. Open it in Google Drive, choose File > Save as Google Sheets (or Docs), and use the new file.',
	},
	// https://github.com/googleapis/google-api-nodejs-client/issues/2322
	{
		api: ['mail'],
		status: 400,
		message: /precondition check failed|mail service not enabled/i,
		authentication: 'serviceAccount',
		advice:
			'A service account has no mailbox of its own. In the credential, enter the user to act for as Delegated Email, and have an administrator allow domain-wide delegation for the scopes.',
	},
	{
		api: ['mail'],
		status: 400,
		message: /mail service not enabled/i,
		advice: 'This Google account has no Gmail mailbox. Sign in with one that has.',
	},
	// https://github.com/xing5/mcp-google-sheets/issues/24
	{
		api: fileApis,
		status: 403,
		message: /caller does not have permission/i,
		authentication: 'serviceAccount',
		creates: true,
		advice:
			'A service account has no Drive of its own to create files in. Choose a Parent Folder in a shared drive that it can write to, or enter a Delegated Email in the credential.',
	},
	// https://github.com/googleapis/google-api-ruby-client/issues/461
	{
		api: fileApis,
		status: 403,
		message: /caller does not have permission/i,
		authentication: 'serviceAccount',
		advice:
			"Share the file with the service account's email address, which is in the credential (with the Editor role to write to it), or enter a Delegated Email in the credential.",
	},
	// https://github.com/n8n-io/n8n/issues/26050
	{
		status: 403,
		reasons: ['storageQuotaExceeded'],
		authentication: 'serviceAccount',
		advice:
			'A service account has no storage of its own. Choose a folder in a shared drive, enter a Delegated Email in the credential, or sign in with a Google account instead.',
	},
	// https://developers.google.com/workspace/drive/api/guides/handle-errors
	{
		status: 403,
		reasons: ['storageQuotaExceeded'],
		advice: 'The storage of this Google account is full. Free up space or use another folder.',
	},
	// https://developers.google.com/workspace/drive/api/guides/manage-downloads
	{
		api: ['drive'],
		status: 403,
		reasons: ['exportSizeLimitExceeded'],
		advice: 'Google gives out at most 10 MB as a file. Make the document smaller, or read it as text.',
	},
	// https://github.com/iterative/PyDrive2/issues/192
	{
		api: ['drive'],
		status: 403,
		message: /has not granted the app/i,
		authentication: 'oAuth2',
		advice: `${appFilesOnlyText}; set Drive Access to All Files in the credential and reconnect (Switch account).`,
	},
	// https://developers.google.com/workspace/drive/api/guides/handle-errors
	{
		api: ['drive'],
		status: 404,
		hidesFiles: true,
		authentication: 'serviceAccount',
		advice: `Google does not show this file to this sign-in; set Drive Access to All Files in the credential, and check that the file is shared with the service account. ${appFilesOnlyText}.`,
	},
	{
		api: ['drive'],
		status: 404,
		hidesFiles: true,
		advice: `Google does not show this file to this sign-in; set Drive Access to All Files in the credential and reconnect (Switch account). ${appFilesOnlyText}.`,
	},
	// https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors
	{
		api: ['sheets', 'docs', 'drive'],
		status: 404,
		// Sheets and Docs reach every file of the account by its ID, whatever the access to Drive.
		advice: 'Check the ID, and that the file is shared with the account of the credential.',
	},
];

/** Advice that Google's words alone decide: a pattern for its reasons, status and message. Links as in the table above. */
export const adviceByWords: Readonly<Record<number, ReadonlyArray<readonly [RegExp, string]>>> = {
	400: [
		[
			/parse range|grid limits|within range|invalid range|outside (?:of )?the (?:range|grid)|no grid with/i,
			`Check ${quoteField('range')}: the tab must exist, and the range must be within its rows and columns. To write below the last row, use Append, which adds rows.`,
		],
		// https://github.com/burnash/gspread/issues/1031
		[
			/protected (?:cell|range|sheet)/i,
			'The cells are protected. Ask the owner of the spreadsheet to let this account edit them (Data > Protect sheets and ranges), or write to other cells.',
		],
		// https://support.google.com/drive/answer/37603
		[
			/limit of 10,?000,?000 cells/i,
			'A spreadsheet can hold up to 10 million cells, including empty ones. Delete rows, columns or tabs that are not needed, or start a new spreadsheet.',
		],
		// https://github.com/asimlqt/php-google-spreadsheet-client/issues/170
		[
			/sheet with the name .* already exists/i,
			'Each tab of a spreadsheet needs a name of its own. Use another one.',
		],
		[/connected sheet/i, 'The tab shows data from elsewhere and cannot be edited. Use another tab.'],
		[
			/typed column/i,
			'A column of this table accepts only one type of value. Change the value, or the type of the column in Google Sheets.',
		],
		[/maximum of 50,?000 char/i, 'Shorten the text of the cell, or put it into a document.'],
		// https://github.com/jlolling/talendcomp_tGoogleSheet/issues/1
		[/(?:payload|message) size exceeds|uploadTooLarge/i, tooLargeText],
		[
			/revision/i,
			'The document was changed in the meantime, so nothing was written. Read it again if the content depends on it, then run this again.',
		],
		[
			/retriev\w+ the image|image should be publicly/i,
			`Google could not fetch an image. It must be a PNG, JPEG or GIF at an address that anyone can open. To write links instead, remove the option ${quoteField('insertImages')}.`,
		],
	],
	401: [[/CREDENTIALS_MISSING/, noTokenText]],
	403: [
		[
			/domainPolicy|SECURITY_POLICY_VIOLATED|vpcServiceControls|organization's policy/i,
			"A policy of the organization doesn't allow this. Show this message to its Google Workspace or Google Cloud administrator.",
		],
		[/dailyLimitExceededUnreg|unregistered callers/, noTokenText],
		...quotaAdvice,
		[
			/teamDriveFileLimitExceeded|numChildrenInNonRootLimitExceeded|activeItemCreationLimitExceeded|Hierarchy/,
			'The folder, shared drive or account cannot hold more files or levels of folders. Use another folder, or remove files that are not needed and empty the trash.',
		],
		[/parentNotAFolder/, `${quoteField('parentFolder')} is a file. Choose a folder.`],
		// https://github.com/GAM-team/GAM/issues/1270
		[
			/cannotAddParent/,
			'A file can be in one folder only. Enter one folder, or move the existing file to it in Google Drive first.',
		],
		[
			/delegation denied/i,
			'The sign-in may not act for this mailbox. Sign in as its user, or enter the user as Delegated Email of a service account with domain-wide delegation.',
		],
		[
			/metadata scope/i,
			'The token has the scope gmail.metadata, which does not allow this. Remove that scope from the credential and reconnect.',
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

/** What Google said about a failed call, in one form for all families of APIs. */
export interface ErrorEnvelope {
	/** Google's own message, at most 500 characters. */
	readonly message: string | undefined;
	/** Symbolic status, if the API family sends one. */
	readonly status: string | undefined;
	/** `errors[].reason` and `details[].reason`. */
	readonly reasons: readonly string[];
	/** Where to enable the API, if Google says so. */
	readonly activationUrl: string | undefined;
}

interface AdviceInput {
	readonly status: number;
	/** Whether this is a rate limit. Google uses several statuses for it. */
	readonly isRateLimited: boolean;
	readonly envelope: ErrorEnvelope;
	readonly call: FailedCall;
}

/** What the user can do. The operation's own advice for the status is appended, unless Google's message identified the cause. */
export function findAdvice(situation: AdviceInput): string {
	const { status, isRateLimited, envelope, call } = situation;
	// Google's APIs say what they do not find. A page without a word comes from a wrong address.
	if (status === 404 && !envelope.message) return noReasonText;
	const row = isRateLimited ? undefined : adviceTable.find((candidate) => matchesRow(candidate, situation));
	const known = row ? undefined : findAdviceByWords(situation);
	const isExplained = known !== undefined || row?.message !== undefined;
	const operationAdvice = isExplained ? undefined : call.advice?.[status];
	return [known ?? findGeneralAdvice(situation, row), operationAdvice].filter(Boolean).join(' ');
}

function findAdviceByWords({ status, envelope }: AdviceInput): string | undefined {
	const words = [...envelope.reasons, envelope.status, envelope.message].join(' ');
	return adviceByWords[status]?.find(([pattern]) => pattern.test(words))?.[1];
}

function findGeneralAdvice(situation: AdviceInput, row: AdviceRow | undefined): string | undefined {
	const { status, isRateLimited, envelope, call } = situation;
	if (isRateLimited) {
		return `Google limits the number of requests per minute. Send fewer requests at once, or raise the option ${quoteField('maxRetryWaitSeconds')}.`;
	}
	if (row)
		return status === 404 && findIdInUrl(call.url) ? `${describeMissingId(call)} ${row.advice}` : row.advice;
	if (status === 403) return findForbiddenAdvice(situation);
	if (status === 404) return describeMissingId(call);
	if (status === 401) return getReconnectAdvice(call.signIn);
	if (status === 409 && envelope.status !== 'ABORTED') return 'Something with this ID already exists.';
	if (status === 409 || status === 412)
		return 'It was changed in the meantime. Read it again and repeat the change.';
	if (status === 413) return tooLargeText;
	if (isRedirect(status)) {
		return 'Redirects are not followed, because they could send the token to another host. Check the API bases in the credential.';
	}
	if (status >= 500 || status === 408) return 'Google reported a temporary problem. Try again later.';
	// The operation's own advice is more specific.
	if (call.advice?.[status]) return undefined;
	if (!envelope.message) return noReasonText;
	return status === 400 ? 'Check the parameters of this item.' : readMessageText;
}

function findForbiddenAdvice({ envelope, call }: AdviceInput): string {
	const hasReason = (...reasons: string[]) => envelope.reasons.some((reason) => reasons.includes(reason));
	const { api, signIn } = call;
	if (hasReason('accessNotConfigured', 'SERVICE_DISABLED')) {
		const where = envelope.activationUrl ?? "the API library of the credential's Google Cloud project";
		return `Enable the ${apiNames[api]} API in ${where}, wait a few minutes and try again.`;
	}
	if (hasReason('insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')) {
		return `The credential lacks the scope ${findNeededScope(call)}. ${getGrantScopeAdvice(signIn)}`;
	}
	// The status PERMISSION_DENIED comes with every 403.
	const words = [...envelope.reasons, envelope.message].join(' ');
	if (!/forbidden|permission/i.test(words) || /\b(?:CONSUMER|USER_PROJECT)_/.test(words))
		return envelope.message ? readMessageText : noReasonText;
	const id = findIdInUrl(call.url);
	return `This account doesn't have permission to do that${id ? ` with ${id}` : ''}. Ask the owner to share it, or use a credential that does.`;
}

function matchesRow(row: AdviceRow, { status, envelope, call }: AdviceInput): boolean {
	const { api, reasons, message, authentication, hidesFiles, creates } = row;
	return (
		row.status === status &&
		(api?.includes(call.api) ?? true) &&
		(reasons?.some((reason) => envelope.reasons.includes(reason)) ?? true) &&
		(message?.test(envelope.message ?? '') ?? true) &&
		(authentication === undefined || authentication === call.signIn.authentication) &&
		(hidesFiles === undefined || call.signIn.driveAccess !== 'allFiles') &&
		(!creates || (call.method === 'POST' && findIdInUrl(call.url) === undefined))
	);
}

function describeMissingId({ url }: FailedCall): string {
	const id = findIdInUrl(url);
	return id ? `This account cannot find anything with the ID ${id}.` : 'Check the ID of this item.';
}

export function getReconnectAdvice({ authentication }: SignIn): string {
	return authentication === 'serviceAccount'
		? "Check the service account's email and key. If you use a Delegated Email, check that an administrator has allowed the scopes for this account."
		: 'Open the credential and reconnect it: sign in to Google again.';
}

function getGrantScopeAdvice({ authentication }: SignIn): string {
	return authentication === 'serviceAccount'
		? 'In the credential, choose the Mail Access or Drive Access that includes it (or add it under Custom Scopes). If you use a Delegated Email, also add it to the domain-wide delegation.'
		: 'In the credential, choose the Mail Access or Drive Access that includes it (or add it under Custom Scopes), reconnect (Switch account), and select every checkbox on the consent page.';
}

/** The narrowest scope that the package asks for and that allows a call. */
export function findNeededScope({ api, method, url, signIn }: FailedCall): string {
	const { pathname } = new URL(url);
	// Shared drives are listed to a sign-in with access to all files only.
	const seesAllFiles = signIn.driveAccess === 'allFiles' || pathname.endsWith('/drives');
	const changeScope = pathname.endsWith('/batchModify') ? 'gmail.modify' : 'gmail.send';
	const writeScope = pathname.endsWith('/drafts') ? 'gmail.compose' : changeScope;
	const scopes: Readonly<Record<Api, string>> = {
		mail: method === 'GET' ? 'gmail.readonly' : writeScope,
		sheets: 'spreadsheets',
		docs: 'documents',
		drive: seesAllFiles ? 'drive' : 'drive.file',
	};
	return `https://www.googleapis.com/auth/${scopes[api]}`;
}

/** The ID that a call was about: the first path segment that is long enough to be one. */
function findIdInUrl(url: string): string | undefined {
	return new URL(url).pathname
		.split(/[/:]/)
		.find((segment) => /^[A-Za-z0-9_-]{10,200}$/.test(segment) && /\d/.test(segment));
}

/** How the node is signed in, as far as error texts depend on it. */
export interface SignIn {
	readonly authentication: 'oAuth2' | 'serviceAccount';
	/** How much of Drive it sees: the app's own files, also the names of all others, or everything. */
	readonly driveAccess: 'appFiles' | 'appFilesAndNames' | 'allFiles';
}

/** The failed call, limited to what an error text may name. */
export interface FailedCall {
	readonly api: Api;
	readonly method: string;
	/** The requested address, with IDs and query. */
	readonly url: string;
	readonly signIn: SignIn;
	/** The operation's own advice, by HTTP status. */
	readonly advice?: Readonly<Record<number, string>>;
}
