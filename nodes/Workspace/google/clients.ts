import { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { uploadToDrive, type DriveUploadRequest, type UploadedFile } from './upload';
import type { RequestSender } from '../../http/attempt';
import type { ApiBases } from './endpoints';
import { createTransport, type TransportOptions } from './transport';

/**
 * Google's clients, which an operation may call. They retry, pause, refresh the token and limit the
 * rate for all operations. Every error of a request is a `NodeError`.
 *
 * A POST with an unknown outcome is not repeated, unless the second argument of the client's method
 * says that repeating it is harmless: `{ retryConfig: { httpMethodsToRetry: ['POST'] } }`, an
 * option of googleapis.
 */
export interface Clients {
	/**
	 * A hash of the credential with its token. It differs for every credential, and changes with
	 * every new token.
	 */
	readonly credentialHash: string;
	readonly gmail: gmail_v1.Gmail;
	readonly sheets: sheets_v4.Sheets;
	readonly docs: docs_v1.Docs;
	readonly drive: drive_v3.Drive;
	/** Drive's resumable upload, which googleapis does not have. */
	readonly uploadToDrive: (request: DriveUploadRequest) => Promise<UploadedFile>;
}

type ClientOptions = TransportOptions & Pick<Clients, 'credentialHash'>;

/**
 * Creates Google's clients. They send all requests with `send`. Import this file with `import()`,
 * because it loads large libraries.
 */
export function createClients(
	send: RequestSender,
	bases: ApiBases,
	options: ClientOptions,
): Clients {
	const transport = createTransport(send, bases, options);
	const client: drive_v3.Options = {
		version: 'v3',
		// The clients call only `request`, but the type names all of google-auth-library.
		auth: { request: transport.request } as unknown as drive_v3.Options['auth'],
		// Without this, an environment variable could redirect every request to another host.
		universeDomain: 'googleapis.com',
	};
	const drive = new drive_v3.Drive(client);
	return {
		credentialHash: options.credentialHash,
		gmail: new gmail_v1.Gmail(client),
		sheets: new sheets_v4.Sheets(client),
		docs: new docs_v1.Docs(client),
		drive,
		uploadToDrive: (request) => uploadToDrive({ drive, transport, bases }, request),
	};
}
