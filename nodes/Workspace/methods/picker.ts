import type { ILoadOptionsFunctions, INodeListSearchResult, INodePropertyOptions } from 'n8n-workflow';

import { toNodeError, nodeApiError, withAdvice } from '../../core/nodeErrors';
import { Sanitizer } from '../../core/sanitizer';
import { Naming } from '../../fields/naming';
import { Connection } from '../google/googleConnection';
import { requestOptions } from '../../fields/params';
import type { Clients } from '../operation';
import type { Search } from './driveFiles';

/** Somebody waits for a list: fewer tries than for a workflow, and no long waits. */
const patience = {
	maxTries: 3,
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
	methods: { 'drive.files.list': 'drive.file', 'drive.drives.list': 'drive' },
} as const;

/** What a request's failure may name. */
const naming = new Naming(requestOptions, 'fields');

/** Asks Google with the credential that is chosen in the node. @throws n8n's error, with the advice in its message */
export async function askGoogle<T>(
	context: ILoadOptionsFunctions,
	ask: (clients: Clients, connection: Connection) => Promise<T>,
): Promise<T> {
	const sanitizer = new Sanitizer();
	try {
		const account = context.getNodeParameter('authentication', 'oAuth2') === 'serviceAccount';
		const connection = await Connection.open(context, account ? 'serviceAccount' : 'oAuth2', sanitizer);
		return await ask(await connection.clients(patience), connection);
	} catch (error) {
		const failure = withAdvice(naming.failure(toNodeError(error)));
		// n8n shows the message alone.
		throw nodeApiError(context.getNode(), failure, undefined, sanitizer);
	}
}

/** n8n's method for a picker. */
export function picker(search: Search) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		return await askGoogle(this, async ({ drive }, { signIn }) => {
			return await search({ drive, signIn }, filter, paginationToken);
		});
	};
}

/** n8n's method for a list of choices. */
export function chooser(choices: (clients: Clients) => Promise<INodePropertyOptions[]>) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		return await askGoogle(this, choices);
	};
}
