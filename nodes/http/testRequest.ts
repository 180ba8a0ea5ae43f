import type { Readable } from 'node:stream';
import type { ICredentialTestFunctions, IHttpRequestMethods } from 'n8n-workflow';

/** How long the service may take to start its answer. */
export const testTimeoutSeconds = 15;

export interface TestRequest {
	readonly method: IHttpRequestMethods;
	readonly uri: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
	readonly rejectUnauthorized?: boolean;
}

export interface TestResponse {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, string | undefined>>;
	/** Has to be read or discarded. */
	readonly body: Readable;
}

/**
 * A request of a credential's test, through n8n's helper, which applies proxies and the egress policy. Follows no redirect; every
 * status is a response. The body is a stream, because the server may be anybody's and its answer of any length.
 */
export async function testRequest(
	helpers: ICredentialTestFunctions['helpers'],
	request: TestRequest,
): Promise<TestResponse> {
	return (await helpers.request({
		...request,
		simple: false,
		resolveWithFullResponse: true,
		followRedirect: false,
		useStream: true,
		timeout: testTimeoutSeconds * 1000,
	})) as TestResponse;
}
