import { isRedirect } from '../../core/errors';
import { joinSentences } from '../../core/text';
import { quoteField } from '../../fields/field';
import { type Api, apiNames } from './endpoints';
import { describeChoiceFor, findNeededScope, type ScopedRequest, type SignIn } from './scopes';

/** What error texts need to know about a request. */
export interface RequestFacts extends ScopedRequest {
	readonly operationAdvice?: OperationAdvice;
}

/**
 * What the user can do in an operation, by the service that refused a request and its HTTP status.
 */
export type OperationAdvice = Readonly<Partial<Record<Api, Readonly<Record<number, string>>>>>;

/** What Google said about a failed request, in one form for the several formats of its services. */
export interface GoogleError {
	/** Google's own message, at most 500 characters. */
	readonly message: string | undefined;
	/** The status as a word, such as `NOT_FOUND`, if the service sends it. */
	readonly status: string | undefined;
	/** All of `errors[].reason` and `details[].reason`, then the message, separated by spaces. */
	readonly searchText: string;
	/**
	 * Whether Google refused the request because of a rate limit, for which Google uses several
	 * statuses.
	 */
	readonly isRateLimit: boolean;
}

/** A row of the table. It applies if all of its conditions are met. */
interface AdviceRow {
	readonly statusCodes: readonly number[];
	/** The failed request must be to one of these services. */
	readonly apis?: readonly Api[];
	/**
	 * Must match `GoogleError.searchText`. A row with a pattern knows the cause, so the operation's
	 * own advice is left out.
	 */
	readonly pattern?: RegExp;
	readonly authentication?: SignIn['authentication'];
	/** The sign-in must be one from which Drive hides files. */
	readonly hidesFiles?: true;
	readonly advice: string | ((request: RequestFacts) => string);
}

export const checkBasesAdvice = 'Check the API bases in the credential and any proxy in between.';

/** What lets a sign-in use the files that Drive hides from it. */
function getHiddenFilesAdvice({ signIn }: RequestFacts): string {
	const lastStep = {
		oAuth2: 'reconnect (Switch account)',
		serviceAccount: 'share the file with the service account',
		delegation: 'allow its scope in the domain-wide delegation',
	}[signIn.authentication];
	return `Google shows this sign-in only files that this app created. To use others, set Drive Access to All Files in the credential and ${lastStep}.`;
}

/**
 * What the user can do. The first row that applies counts. A link above a row shows such a
 * response.
 */
export const adviceTable: readonly AdviceRow[] = [
	// https://github.com/burnash/gspread/issues/732
	{
		statusCodes: [400],
		apis: ['sheets', 'docs'],
		pattern: /operation is not supported for this document/i,
		advice: 'This is a file of another kind. The resource Spreadsheet needs a Google spreadsheet, and Document a Google document. Open an Excel or Word file in Google Drive, choose File > Save as Google Sheets or Google Docs, and use the new file.',
	},
	// https://github.com/googleapis/google-api-nodejs-client/issues/2322
	{
		statusCodes: [400],
		apis: ['mail'],
		pattern: /precondition check failed|mail service not enabled/i,
		authentication: 'serviceAccount',
		advice: 'A service account has no mailbox of its own. In the credential, enter the user to act for as Delegated Email, and have an administrator allow domain-wide delegation for the scopes.',
	},
	{
		statusCodes: [400],
		apis: ['sheets'],
		pattern: /parse range|grid limits|within range/i,
		advice: `Check ${quoteField('range')}: the tab must exist, and the range must be within its rows and columns. To write below the last row, use Append, which adds rows.`,
	},
	{
		statusCodes: [400],
		apis: ['docs'],
		pattern: /revision/i,
		advice: 'The document was changed in the meantime, so nothing was written. Read it again if the content depends on it, then run this again.',
	},
	{ statusCodes: [401], advice: ({ signIn }) => getReconnectAdvice(signIn) },
	{
		statusCodes: [403],
		pattern: /accessNotConfigured|SERVICE_DISABLED/,
		advice: ({ api }) =>
			`Enable the ${apiNames[api]} API in the API library of the credential's Google Cloud project, wait a few minutes and try again.`,
	},
	{
		statusCodes: [403],
		pattern: /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT/,
		advice(request) {
			const scope = findNeededScope(request);
			return `The credential lacks the scope ${scope}. ${getGrantScopeAdvice(scope, request.signIn)}`;
		},
	},
	// https://github.com/xing5/mcp-google-sheets/issues/24,
	// https://github.com/googleapis/google-api-ruby-client/issues/461
	{
		statusCodes: [403],
		apis: ['sheets', 'docs'],
		pattern: /caller does not have permission/i,
		authentication: 'serviceAccount',
		advice: "Share the file with the service account's email address, which is in the credential (with the Editor role to write to it). A service account has no Drive of its own, so choose a Parent Folder in a shared drive for a new file, or enter a Delegated Email in the credential.",
	},
	// https://github.com/n8n-io/n8n/issues/26050
	{
		statusCodes: [403],
		pattern: /storageQuotaExceeded/,
		authentication: 'serviceAccount',
		advice: 'A service account has no storage of its own. Choose a folder in a shared drive, enter a Delegated Email in the credential, or sign in with a Google account instead.',
	},
	// https://developers.google.com/workspace/drive/api/guides/manage-downloads
	{
		statusCodes: [403],
		apis: ['drive'],
		pattern: /exportSizeLimitExceeded/,
		advice: 'Google exports at most 10 MB as a file. Make the document smaller, or read it as text.',
	},
	// https://github.com/iterative/PyDrive2/issues/192
	{
		statusCodes: [403],
		apis: ['drive'],
		pattern: /appNotAuthorizedToFile/,
		authentication: 'oAuth2',
		advice: getHiddenFilesAdvice,
	},
	{
		statusCodes: [403, 429],
		pattern: /dailyLimitExceeded|\bquotaExceeded|\bper day\b/i,
		advice: "A quota of the Google account or of the credential's Google Cloud project is used up. Try again tomorrow, or ask Google for a higher quota.",
	},
	{
		statusCodes: [403],
		pattern: /\bforbidden\b|insufficient\w+Permissions|caller does not have permission/,
		advice: "This account doesn't have permission to do that. Ask the owner to share it, or use a credential that does.",
	},
	// https://developers.google.com/workspace/drive/api/guides/handle-errors
	{ statusCodes: [404], apis: ['drive'], hidesFiles: true, advice: getHiddenFilesAdvice },
	// https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors
	{
		statusCodes: [404],
		apis: ['sheets', 'docs', 'drive'],
		advice: 'Check the ID, and that the file is shared with the account of the credential. The ID of another kind of file does not work here.',
	},
	{
		statusCodes: [409, 412],
		advice: 'Somebody else created or changed it in the meantime. Read it again and repeat the change.',
	},
];

/**
 * Finds what the user can do. Appends the operation's own advice for the status, unless Google's
 * reason or message has shown the cause.
 */
export function findAdvice(statusCode: number, error: GoogleError, request: RequestFacts): string {
	// Google's services have a message for what they do not find. A 404 without a message comes
	// from a wrong base address.
	const isFromGoogle = statusCode !== 404 || error.message !== undefined;
	const row = adviceTable.find((candidate) =>
		isApplicable(candidate, statusCode, error, request),
	);
	const operationAdvice = request.operationAdvice?.[request.api]?.[statusCode];
	if (row && isFromGoogle) {
		const { advice, pattern } = row;
		return joinSentences(
			typeof advice === 'string' ? advice : advice(request),
			!pattern && operationAdvice,
		);
	}
	if (error.isRateLimit)
		return `Google limits the number of requests per minute. Send fewer requests at once, or raise the option ${quoteField('maxRetryWaitSeconds')}.`;
	if (isRedirect(statusCode))
		return 'Redirects are not followed, because they could send the token to another host. Check the API bases in the credential.';
	if (statusCode >= 500 || statusCode === 408)
		return 'Google reported a temporary problem. Try again later.';
	if (!error.message) return `Google gave no reason. ${checkBasesAdvice}`;
	return operationAdvice ?? 'The message says why Google refused this.';
}

function isApplicable(
	row: AdviceRow,
	statusCode: number,
	error: GoogleError,
	{ api, signIn }: RequestFacts,
) {
	if (!row.statusCodes.includes(statusCode)) return false;
	if (row.apis && !row.apis.includes(api)) return false;
	if (row.pattern && !row.pattern.test(error.searchText)) return false;
	if (row.authentication && row.authentication !== signIn.authentication) return false;
	return !row.hidesFiles || signIn.driveAccess !== 'allFiles';
}

export function getReconnectAdvice({ authentication }: Pick<SignIn, 'authentication'>): string {
	return authentication === 'oAuth2'
		? 'Open the credential and reconnect it: sign in to Google again.'
		: "Check the service account's email and key. If you use a Delegated Email, check that an administrator has allowed the scopes for this account.";
}

function getGrantScopeAdvice(scope: string, { authentication }: SignIn): string {
	const choice = describeChoiceFor(scope);
	const includeScopeText =
		choice === undefined
			? 'If the credential has Custom Scopes, add the scope there'
			: `In the credential, ${choice} (or add the scope under Custom Scopes)`;
	return authentication === 'oAuth2'
		? `${includeScopeText}. Then reconnect (Switch account), and select every checkbox on the consent page.`
		: `${includeScopeText}. If you use a Delegated Email, also add it to the domain-wide delegation.`;
}
