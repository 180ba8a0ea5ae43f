import { randomUUID } from 'node:crypto';

import { docs_v1 } from 'googleapis/build/src/apis/docs/v1';
import { drive_v3 } from 'googleapis/build/src/apis/drive/v3';
import { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';
import { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4';

import type { Clients } from '../operation';

import type { Bases } from './baseUrls';
import { createResumableUpload } from './upload/resumableUpload';
import type { Send } from '../../http/request';
import { createTransport, type TransportOptions } from './transport';

/**
 * Google's clients. All their requests go through `send`.
 *
 * @param options without an account, nothing is known of it from earlier clients
 *
 * Heavy, so it is loaded only on first use.
 */
export function createClients(
	send: Send,
	bases: Bases,
	options: TransportOptions & Partial<Pick<Clients, 'account'>>,
): Clients {
	const transport = createTransport(send, bases, options);
	const client: drive_v3.Options = {
		version: 'v3',
		// The clients call only `request`, but the type names all of google-auth-library.
		auth: { request: transport } as unknown as drive_v3.Options['auth'],
		// Otherwise, an environment variable could redirect every request to another host.
		universeDomain: 'googleapis.com',
	};
	return {
		account: options.account ?? randomUUID(),
		gmail: new gmail_v1.Gmail(client),
		sheets: new sheets_v4.Sheets(client),
		docs: new docs_v1.Docs(client),
		drive: new drive_v3.Drive(client),
		resumableUpload: createResumableUpload(send, bases, options),
	};
}
