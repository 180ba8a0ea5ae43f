import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { Connection } from '../google/connection';
import type { Search } from './driveFiles';

/** Somebody waits for a list: fewer tries than for a workflow, and no long waits. */
const patience = { maxTries: 3, maxRetryWaitMilliseconds: 5000, timeoutMilliseconds: 30_000 };

/** Runs a picker with the credential that is chosen in the node. */
export async function pick(
	context: ILoadOptionsFunctions,
	search: Search,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const chosen = context.getNodeParameter('authentication', 'oAuth2');
	const connection = await Connection.open(
		context,
		chosen === 'serviceAccount' ? 'serviceAccount' : 'oAuth2',
	);
	const { drive } = await connection.clients(patience);
	return await search({ drive, driveAccess: connection.signIn.driveAccess }, filter, paginationToken);
}
