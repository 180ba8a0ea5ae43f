import { named } from '../../fields/naming';

import { adviceTable, type AdviceRow } from './adviceTable';
import type { Api } from './bases';
import type { Envelope } from './envelope';
import type { FailedCall, SignIn } from './failedCall';

export const apiNames: Readonly<Record<Api, string>> = {
	mail: 'Gmail',
	sheets: 'Google Sheets',
	docs: 'Google Docs',
	drive: 'Google Drive',
};

/** Display names, as in Google Cloud's API library. */
const libraryNames: Readonly<Record<Api, string>> = {
	mail: 'Gmail API',
	sheets: 'Google Sheets API',
	docs: 'Google Docs API',
	drive: 'Google Drive API',
};

export interface Situation {
	readonly status: number;
	/** Whether this is a rate limit. Google uses several statuses for it. */
	readonly limited: boolean;
	readonly envelope: Envelope;
	readonly call: FailedCall;
}

/**
 * What the user can do about an unsuccessful answer. The operation's own advice for the status is appended,
 * unless the text of Google's message already identified the cause.
 */
export function adviceFor(situation: Situation): string {
	const { status, limited, call } = situation;
	const row = limited ? undefined : rowFor(situation);
	const ofOperation = row?.message === undefined ? call.advice?.[status] : undefined;
	return [generalAdvice(situation, row), ofOperation].filter(Boolean).join(' ');
}

function rowFor(situation: Situation): AdviceRow | undefined {
	return adviceTable.find((candidate) => fits(candidate, situation));
}

function generalAdvice(situation: Situation, row: AdviceRow | undefined): string | undefined {
	const { status, limited, call } = situation;
	if (limited) {
		return `Google limits the number of requests per minute. Send fewer requests at once, or raise the option ${named('maxRetryWaitSeconds')}.`;
	}
	if (row) return status === 404 && idIn(call.url) ? `${missing(call)} ${row.advice}` : row.advice;
	if (status === 403) return adviceForForbidden(situation);
	if (status === 404) return missing(call);
	if (status === 401) return reconnect(call.signIn);
	if (status === 409) return 'Something with this ID already exists.';
	if (status === 412) return 'It was changed in the meantime. Read it again and repeat the change.';
	if (status >= 300 && status < 400) {
		return 'Redirects are not followed, because they could send the token to another host. Check the API bases in the credential.';
	}
	if (status >= 500) return 'Google reported a temporary problem. Try again later.';
	// The operation's own advice is more specific.
	return situation.call.advice?.[status] ? undefined : 'Check the parameters of this item.';
}

function adviceForForbidden({ envelope, call }: Situation): string {
	const has = (...reasons: string[]) => envelope.reasons.some((reason) => reasons.includes(reason));
	const { api, signIn } = call;
	if (has('accessNotConfigured', 'SERVICE_DISABLED')) {
		const where = envelope.activationUrl ?? "the API library of the credential's Google Cloud project";
		return `Enable the ${libraryNames[api]} in ${where}, wait a few minutes and try again.`;
	}
	if (has('insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')) {
		return `${lackingScope(call)} ${grantScope(signIn)}`;
	}
	if (has('storageQuotaExceeded')) {
		return signIn.authentication === 'serviceAccount'
			? 'A service account has no storage of its own. Choose a folder in a shared drive, or enter a Delegated Email in the credential.'
			: 'The storage of this Google account is full. Free up space or use another folder.';
	}
	if (has('dailyLimitExceeded', 'quotaExceeded')) {
		return "A quota of the Google account or of the credential's Google Cloud project is used up. Try again tomorrow, or ask Google for a higher quota.";
	}
	const id = idIn(call.url);
	return `This account doesn't have permission to do that${id ? ` with ${id}` : ''}. Ask the owner to share it, or use a credential that does.`;
}

function fits(row: AdviceRow, { status, envelope, call }: Situation): boolean {
	const { api, reasons, message, authentication, hidesFiles, creates } = row;
	return (
		row.status === status &&
		(api?.includes(call.api) ?? true) &&
		(reasons?.some((reason) => envelope.reasons.includes(reason)) ?? true) &&
		(message?.test(envelope.message ?? '') ?? true) &&
		(authentication === undefined || authentication === call.signIn.authentication) &&
		(hidesFiles === undefined || call.signIn.driveAccess !== 'allFiles') &&
		(!creates || (call.method === 'POST' && idIn(call.url) === undefined))
	);
}

function missing({ url }: FailedCall): string {
	const id = idIn(url);
	return id ? `This account cannot find anything with the ID ${id}.` : 'Check the ID of this item.';
}

export function reconnect({ authentication }: SignIn): string {
	return authentication === 'serviceAccount'
		? "Check the service account's email and key. If you use a Delegated Email, check that an administrator has allowed the scopes for this account."
		: 'Open the credential and reconnect it.';
}

function grantScope({ authentication }: SignIn): string {
	return authentication === 'serviceAccount'
		? 'Add it to the scopes of the credential. If you use a Delegated Email, also add it to the domain-wide delegation.'
		: 'Add it to the scopes of the credential, reconnect, and select every checkbox on the consent page.';
}

const scopePrefix = 'https://www.googleapis.com/auth/';

/** The first part of Google's method IDs. */
const clientNames: Readonly<Record<Api, string>> = {
	mail: 'gmail.',
	sheets: 'sheets.',
	docs: 'docs.',
	drive: 'drive.',
};

/** The scope that the sign-in may lack: the one that the operation declares for the service that refused. */
function lackingScope({ api, methods, signIn }: FailedCall): string {
	const declared = Object.entries(methods).flatMap(([method, scope]) =>
		method.startsWith(clientNames[api]) ? [scope] : [],
	);
	const asked = declared.map((scope) =>
		scope === 'drive.file' && signIn.driveAccess === 'allFiles' ? 'drive' : scope,
	);
	const scopes = [...new Set(asked)].map((scope) => scopePrefix + scope);
	if (scopes.length === 0) return `The credential lacks a scope for ${apiNames[api]}.`;
	return scopes.length === 1
		? `The credential lacks the scope ${scopes.join('')}.`
		: `The credential lacks one of the scopes ${scopes.join(', ')}.`;
}

/** The ID that a call was about: the first path segment that is long enough to be one. */
function idIn(url: string): string | undefined {
	return new URL(url).pathname
		.split(/[/:]/)
		.find((segment) => /^[A-Za-z0-9_-]{10,200}$/.test(segment) && /\d/.test(segment));
}
