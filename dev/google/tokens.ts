import { randomBytes } from 'node:crypto';

const scopePrefix = 'https://www.googleapis.com/auth/';

const usualScopes = ['gmail.send', 'gmail.readonly', 'spreadsheets', 'documents'];

/** The scopes that the package's credential requests if nothing is chosen in it. */
export const defaultScopes = [...usualScopes, 'drive.file', 'drive.metadata.readonly'];

/** The scopes that it requests if Drive Access is All Files. */
export const standardScopes = [...usualScopes, 'drive'];

/** The scopes that it requests with the widest choice of each access. */
export const widestScopes = ['gmail.modify', 'spreadsheets', 'documents', 'drive'];

export interface Grant {
	/** Email address of the signed-in user. */
	readonly user: string;
	/** OAuth client, which decides what `drive.file` shows. */
	readonly clientId: string;
	/** Full scope addresses. */
	readonly scopes: readonly string[];
	/** When the sign-in ends, in milliseconds since 1970; undefined for never. */
	readonly endsAt?: number;
}

export interface IssueOptions {
	/** The token. If absent, it is generated. */
	readonly token?: string;
	readonly user?: string;
	readonly clientId?: string;
	/** Full addresses, or names without the common prefix, such as `gmail.send`. */
	readonly scopes?: readonly string[];
	readonly endsAt?: number;
}

interface Issued extends Grant {
	expiresAt: number;
}

/** Lifetime of an access token. */
export const accessSeconds = 3600;

/** Access and refresh tokens that the stand-in accepts. */
export class Tokens {
	private readonly access = new Map<string, Issued>();
	private readonly refreshes = new Map<string, Grant>();
	private readonly defaultUser: string;

	constructor(defaultUser: string) {
		this.defaultUser = defaultUser;
	}

	/** @returns an access token */
	issue(options: IssueOptions = {}): string {
		const token = options.token ?? `ya29.${randomBytes(24).toString('base64url')}`;
		this.access.set(token, {
			...this.buildGrant(options),
			expiresAt: Date.now() + accessSeconds * 1000,
		});
		return token;
	}

	/** @returns a refresh token */
	issueRefresh(options: IssueOptions = {}): string {
		const token = options.token ?? `1//${randomBytes(24).toString('base64url')}`;
		this.refreshes.set(token, this.buildGrant(options));
		return token;
	}

	/** Finds the grant of a token that is currently valid. */
	find(token: string): Grant | undefined {
		const issued = this.access.get(token);
		return issued && issued.expiresAt > Date.now() ? issued : undefined;
	}

	findRefresh(token: string): Grant | undefined {
		const grant = this.refreshes.get(token);
		return (grant?.endsAt ?? Infinity) > Date.now() ? grant : undefined;
	}

	/** Expires all access tokens. */
	expire(): void {
		for (const issued of this.access.values()) issued.expiresAt = 0;
	}

	/** Revokes all refresh tokens. */
	revoke(): void {
		this.refreshes.clear();
	}

	clear(): void {
		this.access.clear();
		this.refreshes.clear();
	}

	private buildGrant({ user, clientId, scopes, endsAt }: IssueOptions): Grant {
		return {
			endsAt,
			user: user ?? this.defaultUser,
			clientId: clientId ?? 'stand-in-client',
			scopes: (scopes ?? standardScopes).map(completeScope),
		};
	}
}

function completeScope(scope: string): string {
	return scope.includes(':') || scope === 'openid' ? scope : scopePrefix + scope;
}
