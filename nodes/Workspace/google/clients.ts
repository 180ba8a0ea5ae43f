import { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import { uploadToDrive, type DriveUploadRequest, type UploadedFile } from './driveUpload';
import type { RequestSender } from '../../http/request';
import { type ApiBases, createTransport, type TransportOptions } from './transport';

/**
 * What an operation may call: Google's own clients, typed by googleapis. Retry, Retry-After, token refresh, concurrency and
 * error shaping happen behind them, once for all operations; whatever a call throws is a `NodeError`.
 *
 * A POST is not repeated after a failure with an unknown outcome unless the call says that repeating is harmless, in googleapis' own
 * option: `{ retryConfig: { httpMethodsToRetry: ['POST'] } }` as the call's second argument.
 */
export interface Clients {
	/** Differs for every account and sign-in, and reveals nothing about them. */
	readonly account: string;
	readonly gmail: gmail_v1.Gmail;
	readonly sheets: sheets_v4.Sheets;
	readonly docs: docs_v1.Docs;
	readonly drive: drive_v3.Drive;
	/** Drive's resumable upload, which googleapis does not have. */
	readonly uploadToDrive: (request: DriveUploadRequest) => Promise<UploadedFile>;
}

type ClientOptions = TransportOptions & Pick<Clients, 'account'>;

/** Google's clients. All their requests go through `send`. Heavy, so it is loaded only on first use. */
export function createClients(send: RequestSender, bases: ApiBases, options: ClientOptions): Clients {
	const transport = createTransport(send, bases, options);
	const client: drive_v3.Options = {
		version: 'v3',
		// The clients call only `request`, but the type names all of google-auth-library.
		auth: { request: transport } as unknown as drive_v3.Options['auth'],
		// Otherwise, an environment variable could redirect every request to another host.
		universeDomain: 'googleapis.com',
	};
	const drive = new drive_v3.Drive(client);
	return {
		account: options.account,
		gmail: new gmail_v1.Gmail(client),
		sheets: new sheets_v4.Sheets(client),
		docs: new docs_v1.Docs(client),
		drive,
		uploadToDrive: async (request) => await uploadToDrive({ drive, transport, bases, options }, request),
	};
}
