// A process that carries out operations with keys, like an n8n worker: it receives a run and returns its
// outcome.
import { randomUUID } from 'node:crypto';

import { isNodeError } from '../../nodes/core/errors';
import * as document from '../../nodes/Workspace/actions/document';
import * as file from '../../nodes/Workspace/actions/file';
import * as mail from '../../nodes/Workspace/actions/mail';
import * as spreadsheet from '../../nodes/Workspace/actions/spreadsheet';
import { createClients } from '../../nodes/Workspace/google/clients';
import { fieldsOf, type Operation } from '../../nodes/Workspace/operation';
import { perform } from '../../nodes/Workspace/runner/runItems';
import type { JobItem } from '../../nodes/Workspace/runner/job';
import { paramsOf } from '../../nodes/fields/params';
import { httpSender } from './sender';
import type { Answer, Run } from './workers';

const resources: Readonly<Record<Run['resource'], Readonly<Record<string, unknown>>>> = {
	document: { ...document },
	file: { ...file },
	mail: { ...mail },
	spreadsheet: { ...spreadsheet },
};

const [url = ''] = process.argv.slice(2);
const bases = {
	mail: `${url}/gmail/v1`,
	sheets: `${url}/v4/spreadsheets`,
	docs: `${url}/v1/documents`,
	drive: `${url}/drive/v3`,
};
const clients = createClients(httpSender('bench'), bases, {
	maxTries: 3,
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
	signal: undefined,
	account: randomUUID(),
	credentialKey: 'bench',
	signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
});

function itemOf(): JobItem {
	const nothing = () => undefined;
	const none = () => Promise.reject(new Error('no files'));
	const answers = new Map<string, Promise<unknown>>();
	return {
		...{ index: 0, json: {}, token: randomUUID(), signal: undefined, binaryFields: [], hasMade: false },
		...{
			requireBinary: nothing,
			binary: none,
			file: none,
			store: none,
			made: nothing,
			hint: nothing,
			log: nothing,
		},
		text: (text) => text,
		told: (failure) => failure,
		once: async <T>(key: string, ask: () => Promise<T>) => {
			// Each key belongs to one type of question, which the map's type cannot express.
			const answer = (answers.get(key) as Promise<T> | undefined) ?? ask();
			answers.set(key, answer);
			return await answer;
		},
	};
}

async function outcomeOf({ number, resource, operation: name, given }: Run): Promise<Answer> {
	const operation = resources[resource][name] as Operation;
	const fields = fieldsOf(operation);
	const params = paramsOf(fields, given, { mode: 'fields', timezone: 'UTC' });
	const limits = { maxTries: 3, maxRetryWaitSeconds: 5, timeoutSeconds: 30 };
	const job = { index: 0, resource, operation, params, limits, item: itemOf() };
	const [outcome] = await perform([{ ...job, combineKey: undefined, serialKey: undefined }], () =>
		Promise.resolve(clients),
	);
	if (isNodeError(outcome)) return { number, error: String(outcome) };
	const result = outcome as { readonly repeated?: boolean };
	return { number, repeated: result.repeated === true, result: JSON.stringify(result) };
}

process.on('message', (run: Run) => {
	outcomeOf(run)
		.catch((error: unknown): Answer => ({ number: run.number, error: String(error) }))
		.then(
			(answer) => process.send?.(answer),
			() => undefined,
		);
});
process.send?.('ready');
