import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type Api, scopeFor } from '../../../nodes/Workspace/google/advice';

interface Method {
	readonly httpMethod: string;
	readonly path: string;
	readonly scopes: readonly string[];
}

interface Contract {
	readonly rootUrl: string;
	readonly servicePath: string;
	readonly methods: Readonly<Record<string, Method>>;
}

const contracts: Readonly<Record<Api, string>> = {
	mail: 'gmail.v1',
	sheets: 'sheets.v4',
	docs: 'docs.v1',
	drive: 'drive.v3',
};

const methods = (Object.keys(contracts) as Api[]).flatMap((api) => {
	const file = path.join(__dirname, `../../contract/${contracts[api]}.json`);
	const contract = JSON.parse(readFileSync(file, 'utf8')) as Contract;
	return Object.entries(contract.methods).map(([id, { httpMethod, path, scopes }]) => {
		const url = `${contract.rootUrl}${contract.servicePath}${path.replaceAll(/\{\+?(\w+)\}/g, '$1')}`;
		return [id, { api, method: httpMethod, url }, scopes] as const;
	});
});

test.each(methods)('Google allows %s with the scope that advice names', (_, call, scopes) => {
	for (const driveAccess of ['appFiles', 'allFiles'] as const) {
		expect(scopes).toContain(scopeFor({ ...call, signIn: { authentication: 'oAuth2', driveAccess } }));
	}
});
