import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { asFailure, nodeError } from '../../items/errorItem';
import { Naming } from '../fieldNames';
import { Connection } from '../google/connection';
import { requestOptions } from '../requestOptions';
import type { Search } from './driveFiles';

/** Somebody waits for a list: fewer tries than for a workflow, and no long waits. */
const patience = { maxTries: 3, maxRetryWaitMilliseconds: 5000, timeoutMilliseconds: 30_000 };

/** What a request's failure may name. */
const naming = new Naming(requestOptions, 'fields');

/** n8n's method for a picker, which searches with the credential that is chosen in the node. */
export function picker(search: Search) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		paginationToken?: string,
	): Promise<INodeListSearchResult> {
		try {
			const account = this.getNodeParameter('authentication', 'oAuth2') === 'serviceAccount';
			const connection = await Connection.open(this, account ? 'serviceAccount' : 'oAuth2');
			const { drive } = await connection.clients(patience);
			const { driveAccess } = connection.signIn;
			return await search({ drive, driveAccess }, filter, paginationToken);
		} catch (error) {
			throw nodeError(this.getNode(), naming.failure(asFailure(error)), 0);
		}
	};
}
