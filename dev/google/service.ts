import type { IncomingMessage } from 'node:http';

/** One API call as the front hands it to a service: routed by the contract, decoded, authenticated. */
export interface Call {
	/** Method id of the discovery document, e.g. `sheets.spreadsheets.values.append`. */
	readonly method: string;
	/** Path and query parameters by name, decoded; a repeated parameter is always an array. */
	readonly params: Readonly<Record<string, string | readonly string[]>>;
	/** Parsed JSON body, or undefined. */
	readonly body: unknown;
	/** Media of an upload (simple or multipart), whole; resumable sessions are kept by the service that owns them. */
	readonly media?: { readonly contentType: string; readonly data: Buffer };
	/** The signed-in user's mail address. */
	readonly user: string;
	/** The OAuth client that the token was issued to; drive.file visibility depends on it. */
	readonly clientId: string;
	/** Scopes of the token. */
	readonly scopes: readonly string[];
	readonly headers: Readonly<Record<string, string>>;
}

export interface Reply {
	/** 200 when absent. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** JSON value, or bytes. */
	readonly body?: unknown;
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

/** A failure as Google words it; the front gives it the envelope of the API's family. */
export class ApiError extends Error {
	readonly code: number;
	/** Symbolic status, e.g. `NOT_FOUND`; derived from the code when absent. */
	readonly status: string | undefined;
	/** `errors[0].reason` or `details[0].reason`, e.g. `notFound`. */
	readonly reason: string | undefined;

	constructor(code: number, message: string, options: { status?: string; reason?: string } = {}) {
		super(message);
		this.code = code;
		this.status = options.status;
		this.reason = options.reason;
	}
}

/** The part of the stand-in that plays one API. */
export interface Service {
	/** Handlers by method id. */
	readonly methods: Readonly<Record<string, Handler>>;
	/** Starts a resumable session; its address is answered in `Location`. */
	startSession?(call: Call, address: URL): Reply;
	/** A request to a session's address, unread; undefined when the connection was cut and nobody waits for an answer. */
	putToSession?(uploadId: string, request: IncomingMessage): Promise<Reply | undefined>;
	/** Forgets everything. */
	reset(): void;
	close?(): Promise<void>;
}
