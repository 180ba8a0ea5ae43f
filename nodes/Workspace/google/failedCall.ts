import type { Api } from './bases';
import type { Methods } from './methods';

/** What the texts of a failure depend on beyond Google's answer. */
export interface SignIn {
	readonly authentication: 'oAuth2' | 'serviceAccount';
	readonly driveAccess: 'appFiles' | 'allFiles';
}

/** The call that failed, as far as a text may name it. */
export interface FailedCall {
	readonly api: Api;
	readonly method: string;
	/** Where it went, with ids and query. */
	readonly url: string;
	readonly signIn: SignIn;
	/** What the operation may call, with the scopes. */
	readonly methods: Methods;
	/** The operation's own advice, by HTTP status. */
	readonly advice?: Readonly<Record<number, string>>;
}
