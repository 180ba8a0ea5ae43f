import type { Api } from './bases';
import type { SignIn } from './failedCall';

/** One kind of refusal and what the user can do about it. The first matching row applies. */
export interface AdviceRow {
	/** Services that the row applies to; any service when absent. */
	readonly api?: readonly Api[];
	readonly status: number;
	/** Any one of these must be in `errors[].reason` or `details[].reason`. */
	readonly reasons?: readonly string[];
	/** Matches Google's own message. */
	readonly message?: RegExp;
	readonly authentication?: SignIn['authentication'];
	/** Applies only with this access to Drive. */
	/** Applies only to sign-ins that Drive hides files from. */
	readonly hidesFiles?: true;
	/** Applies only to calls that create something, and so name no file. */
	readonly creates?: true;
	readonly advice: string;
	/** Google's answer as someone reported it, and where. */
	readonly reported: { readonly message: string; readonly reason?: string; readonly source: string };
}

export const hiddenFile =
	'Google does not show this file to this sign-in; set Drive Access to All Files in the credential and reconnect (Switch account).';

const files: readonly Api[] = ['sheets', 'docs'];

export const adviceTable: readonly AdviceRow[] = [
	{
		api: files,
		status: 400,
		message: /operation is not supported for this document/i,
		advice:
			'This is an Office file (such as .xlsx or .docx) that was never converted. Open it in Google Drive, choose File > Save as Google Sheets (or Docs), and use the new file.',
		reported: {
			message: 'This operation is not supported for this document',
			source: 'https://github.com/burnash/gspread/issues/732',
		},
	},
	{
		api: ['sheets'],
		status: 400,
		message: /protected (?:cell|range|sheet)/i,
		advice:
			'The cells are protected. Ask the owner of the spreadsheet to let this account edit them (Data > Protect sheets and ranges), or write to other cells.',
		reported: {
			message:
				'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection if you need to edit.',
			source: 'https://github.com/burnash/gspread/issues/1031',
		},
	},
	{
		api: ['sheets'],
		status: 400,
		message: /limit of 10,?000,?000 cells/i,
		advice:
			'A spreadsheet can hold up to 10 million cells, including empty ones. Delete rows, columns or tabs that are not needed, or start a new spreadsheet.',
		reported: {
			message:
				'This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
			source: 'https://support.google.com/drive/answer/37603',
		},
	},
	{
		status: 400,
		message: /payload size exceeds the limit/i,
		advice: 'The request is larger than Google accepts. Send less at once.',
		reported: {
			message: 'Request payload size exceeds the limit: 10485760 bytes.',
			source: 'https://github.com/jlolling/talendcomp_tGoogleSheet/issues/1',
		},
	},
	{
		api: ['mail'],
		status: 400,
		message: /precondition check failed|mail service not enabled/i,
		authentication: 'serviceAccount',
		advice:
			'A service account has no mailbox of its own. In the credential, enter the user to act for as Delegated Email, and have an administrator allow domain-wide delegation for the scopes.',
		reported: {
			message: 'Precondition check failed.',
			reason: 'failedPrecondition',
			source: 'https://github.com/googleapis/google-api-nodejs-client/issues/2322',
		},
	},
	{
		api: ['mail'],
		status: 400,
		message: /mail service not enabled/i,
		advice: 'This Google account has no Gmail mailbox. Sign in with one that has.',
		reported: {
			message: 'Mail service not enabled',
			reason: 'failedPrecondition',
			source: 'https://github.com/googleapis/google-api-nodejs-client/issues/2322',
		},
	},
	{
		api: files,
		status: 403,
		message: /caller does not have permission/i,
		authentication: 'serviceAccount',
		creates: true,
		advice:
			'A service account has no Drive of its own to create files in. Choose a Parent Folder in a shared drive that it can write to, or enter a Delegated Email in the credential.',
		reported: {
			message: 'The caller does not have permission',
			source: 'https://github.com/xing5/mcp-google-sheets/issues/24',
		},
	},
	{
		api: files,
		status: 403,
		message: /caller does not have permission/i,
		authentication: 'serviceAccount',
		advice:
			"Share the file with the service account's email address, which is in the credential (with the Editor role to write to it), or enter a Delegated Email in the credential.",
		reported: {
			message: 'The caller does not have permission',
			reason: 'forbidden',
			source: 'https://github.com/googleapis/google-api-ruby-client/issues/461',
		},
	},
	{
		api: ['drive'],
		status: 404,
		hidesFiles: true,
		advice: hiddenFile,
		reported: {
			message: 'File not found: 1A.',
			reason: 'notFound',
			source: 'https://developers.google.com/workspace/drive/api/guides/handle-errors',
		},
	},
	{
		api: ['sheets', 'docs', 'drive'],
		status: 404,
		// Sheets and Docs reach every file of the account by its ID, so the access to Drive does not matter
		// here.
		advice: 'Check the ID, and that the file is shared with the account of the credential.',
		reported: {
			message: 'Requested entity was not found.',
			source: 'https://developers.google.com/workspace/sheets/api/troubleshoot-api-errors',
		},
	},
];
