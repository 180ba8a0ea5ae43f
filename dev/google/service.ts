/** One API call as the front passes it to a service: routed by the contract, decoded, authenticated. */
export interface Call {
	/** Method ID of the discovery document, such as `sheets.spreadsheets.values.append`. */
	readonly method: string;
	/** Path and query parameters by name, decoded; a repeated parameter is always an array. */
	readonly params: Readonly<Record<string, string | readonly string[]>>;
	/** Parsed JSON body, or undefined. */
	readonly body: unknown;
	/**
	 * The complete media of a simple or multipart upload. Resumable sessions are handled by their own
	 * service.
	 */
	readonly media?: { readonly contentType: string; readonly data: Buffer };
	/** The signed-in user's email address. */
	readonly user: string;
	/** The OAuth client that the token was issued to, which decides what `drive.file` shows. */
	readonly clientId: string;
	/** Scopes of the token. */
	readonly scopes: readonly string[];
	readonly headers: Readonly<Record<string, string>>;
}

export interface Reply {
	/** Default: 200. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** A JSON value, or bytes. */
	readonly body?: unknown;
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

/** An error in Google's words. The front adds the envelope of the API family. */
export class ApiError extends Error {
	readonly code: number;
	/** Symbolic status, such as `NOT_FOUND`; derived from the code if absent. */
	readonly status: string | undefined;
	/** `errors[0].reason` or `details[0].reason`, such as `notFound`. */
	readonly reason: string | undefined;

	constructor(code: number, message: string, options: { status?: string; reason?: string } = {}) {
		super(message);
		this.code = code;
		this.status = options.status;
		this.reason = options.reason;
	}
}

/** The part of the stand-in that implements one API. */
export interface Service {
	/** Handlers by method ID. */
	readonly methods: Readonly<Record<string, Handler>>;
	/** Starts a resumable session and returns its address in `Location`. */
	startSession?(call: Call, address: URL): Reply;
	/** Removes all data. */
	reset(): void;
}
