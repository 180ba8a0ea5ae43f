import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { Consent } from './consent.ts';
import type { Reply } from './service.ts';
import { verifyAssertion, type ServiceAccount } from './serviceAccount.ts';
import { accessSeconds, type Grant, type Tokens } from './tokens.ts';

export interface OAuthOptions {
	/** Email addresses that the consent page offers. */
	readonly users?: readonly string[];
	readonly serviceAccounts?: readonly ServiceAccount[];
}

const pages: Readonly<Record<string, string>> = {
	'/o/oauth2/v2/auth': 'oauth.consent',
	'/o/oauth2/v2/auth/callback': 'oauth.allow',
	'/token': 'oauth.token',
};

/** Google's sign-in: consent page, codes, refreshes, service accounts. */
export class OAuth {
	/** How many seconds a new sign-in lasts. For an app in Testing, Google sets 604,800. By default, it lasts forever. */
	signInSeconds: number | undefined;
	private readonly tokens: Tokens;
	private readonly url: string;
	private readonly consent: Consent;
	private readonly serviceAccounts: readonly ServiceAccount[];

	constructor(tokens: Tokens, url: string, { users = [], serviceAccounts = [] }: OAuthOptions) {
		this.tokens = tokens;
		this.url = url;
		this.consent = new Consent(users);
		this.serviceAccounts = serviceAccounts;
	}

	/** Returns the name of the page at a path, as in the request log. */
	findPageName(path: string): string | undefined {
		return pages[path];
	}

	async reply(request: IncomingMessage, address: URL, skipped: boolean): Promise<Reply> {
		const form = new URLSearchParams(await text(request));
		if (skipped) return {};
		if (address.pathname.endsWith('/auth')) return this.consent.buildPage(address);
		if (address.pathname.endsWith('/callback')) return this.consent.allow(form);
		try {
			const body = this.issueToken(form, request);
			return { headers: { 'Cache-Control': 'no-store' }, body };
		} catch (error) {
			if (error instanceof OAuthError) return error.reply;
			throw error;
		}
	}

	clear(): void {
		this.signInSeconds = undefined;
	}

	private issueToken(form: URLSearchParams, request: IncomingMessage): object {
		const grantType = form.get('grant_type');
		if (grantType === 'authorization_code') {
			const signedIn = this.consent.exchange(form, readClientId(form, request));
			if (!signedIn) throw new OAuthError(400, 'invalid_grant', 'Malformed auth code.');
			const signIn = { ...signedIn, endsAt: this.findEnd() };
			return this.buildAnswer(signIn, this.tokens.issueRefresh(signIn));
		}
		if (grantType === 'refresh_token') return this.refresh(form.get('refresh_token') ?? '');
		if (grantType === 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
			const assertion = verifyAssertion(
				form.get('assertion') ?? '',
				this.serviceAccounts,
				`${this.url}/token`,
			);
			if ('error' in assertion)
				throw new OAuthError(assertion.status, assertion.error, assertion.description);
			return this.buildAnswer(assertion);
		}
		const description = `Invalid grant_type: ${String(grantType)}`;
		throw new OAuthError(400, 'unsupported_grant_type', description);
	}

	private refresh(refreshToken: string): object {
		const grant = this.tokens.findRefresh(refreshToken);
		if (!grant)
			throw new OAuthError(400, 'invalid_grant', 'Token has been expired or revoked.');
		return this.buildAnswer(grant);
	}

	private findEnd(): number | undefined {
		return this.signInSeconds === undefined
			? undefined
			: Date.now() + this.signInSeconds * 1000;
	}

	private buildAnswer(grant: Grant, refreshToken?: string): object {
		const now = Date.now();
		return {
			access_token: this.tokens.issue(grant),
			expires_in: accessSeconds,
			...(refreshToken !== undefined && { refresh_token: refreshToken }),
			// Google sends this for apps in Testing, and if a user allows access only for some time (google/GoogleSignIn-iOS#565).
			...(grant.endsAt !== undefined && {
				refresh_token_expires_in: Math.max(0, Math.ceil((grant.endsAt - now) / 1000) - 1),
			}),
			scope: grant.scopes.join(' '),
			token_type: 'Bearer',
		};
	}
}

class OAuthError extends Error {
	readonly reply: Reply;

	constructor(status: number, error: string, description: string) {
		super(description);
		this.reply = { status, body: { error, error_description: description } };
	}
}

/** Reads the client ID from the form, or from the Authorization header. */
function readClientId(form: URLSearchParams, { headers }: IncomingMessage): string | null {
	const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1];
	if (basic === undefined) return form.get('client_id');
	const [id = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':');
	return decodeURIComponent(id);
}
