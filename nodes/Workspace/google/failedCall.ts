import type { Api } from './bases';
import type { Methods } from './methods';

/** What the error texts depend on in addition to Google's answer. */
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
	/** Methods that the operation may call, with their scopes. */
	readonly methods: Methods;
	/** The operation's own advice, by HTTP status. */
	readonly advice?: Readonly<Record<number, string>>;
}
