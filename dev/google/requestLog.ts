import type { IncomingHttpHeaders } from 'node:http';

/** A request that reached the stand-in. */
export interface LoggedRequest {
	/**
	 * Method ID, `upload.session` for a request to a resumable upload's address, `oauth.token` …, or
	 * undefined.
	 */
	readonly method: string | undefined;
	readonly httpMethod: string;
	/** Path without the prefix, still encoded. */
	readonly path: string;
	readonly query: URLSearchParams;
	readonly headers: IncomingHttpHeaders;
	/** Bearer token. */
	readonly token: string | undefined;
	/** Milliseconds since 1970. */
	readonly at: number;
	/** Parsed JSON body; for an upload, its metadata part. */
	body: unknown;
	/** Bytes of the whole body; 0 for requests to a resumable upload's address. */
	size: number;
	/** HTTP status of the answer; undefined until there is one. */
	status: number | undefined;
}
