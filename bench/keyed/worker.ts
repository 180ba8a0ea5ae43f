// A process that carries out operations with keys, like an n8n worker: it receives a run and returns its
// outcome.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import { isNodeError } from '../../nodes/core/errors';
import * as document from '../../nodes/Workspace/actions/document';
import * as file from '../../nodes/Workspace/actions/file';
import * as mail from '../../nodes/Workspace/actions/mail';
import * as spreadsheet from '../../nodes/Workspace/actions/spreadsheet';
import { createClients } from '../../nodes/Workspace/google/clients';
import { getAllFields, type Operation } from '../../nodes/Workspace/operation';
import { performJobs } from '../../nodes/Workspace/runner/runWorkspace';
import { Sanitizer } from '../../nodes/core/sanitizer';
import { type RunnerItem, RunState } from '../../nodes/Workspace/runner/job';
import { readParameters } from '../../nodes/fields/params';
import type { RequestSender } from '../../nodes/http/attempt';
import type { Answer, Run } from './workers';

const resources: Readonly<Record<Run['resource'], Readonly<Record<string, unknown>>>> = {
	document: { ...document },
	file: { ...file },
	mail: { ...mail },
	spreadsheet: { ...spreadsheet },
};

/** Does what n8n's request helper does for the package, with Node's own client. */
const send: RequestSender = async ({ url, method, headers, body }) => {
	const sent = body instanceof Readable ? Buffer.concat(await body.toArray()) : body;
	const answer = await fetch(url, {
		method,
		headers: { ...(headers as Record<string, string>), authorization: 'Bearer bench' },
		body: Buffer.isBuffer(sent) ? new Uint8Array(sent) : undefined,
		redirect: 'manual',
	});
	return {
		statusCode: answer.status,
		headers: Object.fromEntries(answer.headers),
		body: answer.body ? Readable.fromWeb(answer.body) : Readable.from([]),
	};
};

const [url = ''] = process.argv.slice(2);
const bases = {
	mail: `${url}/gmail/v1`,
	sheets: `${url}/v4/spreadsheets`,
	docs: `${url}/v1/documents`,
	drive: `${url}/drive/v3`,
};
const clients = createClients(send, bases, {
	maxRetryWaitMilliseconds: 5000,
	timeoutMilliseconds: 30_000,
	signal: undefined,
	credentialHash: randomUUID(),
	credentialKey: 'bench',
	signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
});

function itemOf(): RunnerItem {
	const nothing = () => undefined;
	const none = () => Promise.reject(new Error('no files'));
	const answers = new Map<string, Promise<unknown>>();
	return {
		index: 0,
		json: {},
		markerId: randomUUID(),
		executionId: 'execution-1',
		signal: undefined,
		hasCreated: false,
		hints: [],
		run: new RunState(new Sanitizer()),
		...{ continueOnFail: false, isTool: false },
		findBinaryFields: () => [],
		getBinary: none,
		getFile: none,
		store: none,
		recordCreated: nothing,
		addHint: nothing,
		releaseHints: nothing,
		log: nothing,
		insertNames: (text) => text,
		explainFailure: (failure) => failure,
		doOnce: async <T>(key: string, ask: () => Promise<T>) => {
			// Each key belongs to one type of question, which the map's type cannot express.
			const answer = (answers.get(key) as Promise<T> | undefined) ?? ask();
			answers.set(key, answer);
			return await answer;
		},
	};
}

async function outcomeOf({ number, resource, operation: name, given }: Run): Promise<Answer> {
	const operation = resources[resource][name] as Operation;
	const fields = getAllFields(operation);
	const params = readParameters(fields, given, { mode: 'fields', timezone: 'UTC' });
	const limits = { maxRetryWaitSeconds: 5, timeoutSeconds: 30 };
	const item = itemOf();
	const prepared = operation.prepare ? operation.prepare(params, item) : params;
	const job = { index: 0, resource, operation, params, prepared, limits, item };
	const [outcome] = await performJobs(
		[{ ...job, combineKey: undefined, place: undefined, changedId: undefined }],
		() => Promise.resolve(clients),
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
