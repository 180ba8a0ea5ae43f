import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';

import { createRefusal } from '../../nodes/core/errors';
import { Sanitizer } from '../../nodes/core/sanitizer';

import { defaultGateSettings } from '../../nodes/http/gate';
import { createClients } from '../../nodes/Workspace/google/clients';
import type { ApiBases } from '../../nodes/Workspace/google/endpoints';
import {
	createGateFinder,
	type GateFinder,
	type TransportOptions,
} from '../../nodes/Workspace/google/transport';
import { FieldNaming } from '../../nodes/fields/field';
import type { Clients, CreatedFile, ByteSource } from '../../nodes/Workspace/operation';
import { type RunnerItem, RunState } from '../../nodes/Workspace/runner/job';

import { n8nSender } from './n8nSender';

export function basesAt(baseUrl: string): ApiBases {
	return {
		mail: `${baseUrl}/gmail/v1`,
		sheets: `${baseUrl}/v4/spreadsheets`,
		docs: `${baseUrl}/v1/documents`,
		drive: `${baseUrl}/drive/v3`,
	};
}

/** Makes gates for one test, with a shorter minute. */
export function quickGates(minute = 600): GateFinder {
	return createGateFinder({ ...defaultGateSettings, periodMilliseconds: minute });
}

/** What a transport is told, with limits that nothing reaches by accident. */
export const transportOptions = (given: Partial<TransportOptions> = {}): TransportOptions => ({
	maxRetryWaitMilliseconds: 60_000,
	timeoutMilliseconds: 30_000,
	signal: undefined,
	credentialKey: 'test',
	findGate: quickGates(),
	signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
	...given,
});

/**
 * The product's clients against a stand-in, sent by n8n's real request helper with a bearer token.
 * @param baseUrl without a trailing slash; the four APIs are reached below it under Google's own paths
 */
export const testClients = (
	baseUrl: string,
	token: string,
	given: Partial<TransportOptions> = {},
): Clients =>
	createClients(n8nSender(token), basesAt(baseUrl), {
		credentialHash: randomUUID(),
		...transportOptions({ credentialKey: `test ${token}`, ...given }),
	});

export interface TestBinary {
	readonly data: Buffer;
	readonly fileName?: string;
	readonly mimeType?: string;
}

/** All test items belong to the same run. */
const run = new RunState(new Sanitizer());
/** In error texts, fields have their JSON keys instead of labels. */
const naming = new FieldNaming([], { mode: 'json' });

export interface TestItem extends RunnerItem {
	readonly hints: string[];
	readonly logs: string[];
	readonly things: CreatedFile[];
}

/** An item as the runner hands it to an operation; what the operation reports is kept. */
export function testItem({
	json = {},
	binary = {},
	index = 0,
	signal,
}: {
	json?: IDataObject;
	binary?: Readonly<Record<string, TestBinary>>;
	index?: number;
	signal?: AbortSignal;
} = {}): TestItem {
	const answers = new Map<string, Promise<unknown>>();
	const item: TestItem = {
		...{ run, continueOnFail: false, isTool: false },
		index,
		json,
		markerId: randomUUID(),
		executionId: 'execution-1',
		signal,
		findBinaryFields: (names) => {
			const fields = names.flatMap((name) => (name === '*' ? Object.keys(binary) : [name]));
			for (const field of fields) if (!binary[field]) throw missing(field, binary);
			return fields;
		},
		getBinary: (field) => sourceOf(field, binary),
		getFile: fileSource,
		store: (bytes, fileName, mimeType = '') =>
			Promise.resolve({ data: bytes.toString('base64'), fileName, mimeType }),
		doOnce: <T>(key: string, ask: () => Promise<T>) => {
			// Each key always stands for answers of one type, which the map's type cannot express.
			const answer = (answers.get(key) as Promise<T> | undefined) ?? ask();
			answers.set(key, answer);
			return answer;
		},
		hints: [],
		logs: [],
		things: [],
		recordCreated: (what) => {
			if (!item.things.some(({ id }) => id === what.id)) item.things.push(what);
		},
		get hasCreated() {
			return item.things.length > 0;
		},
		insertNames: (text) => naming.insertNames(text),
		explainFailure: (failure) => naming.insertNamesIntoError(failure),
		addHint: (text) => item.hints.push(naming.insertNames(text)),
		releaseHints: () => undefined,
		log: (text) => item.logs.push(text),
	};
	return item;
}

function missing(field: string, binary: object) {
	const existing = Object.keys(binary).join(', ') || 'none';
	return createRefusal(`There is no binary field '${field}'`, `The item has: ${existing}.`);
}

function sourceOf(
	field: string,
	binary: Readonly<Record<string, TestBinary>>,
): Promise<ByteSource> {
	const found = binary[field];
	if (!found) return Promise.reject(missing(field, binary));
	const { data, fileName, mimeType } = found;
	return Promise.resolve({
		fileName,
		mimeType,
		size: data.length,
		open: () => Promise.resolve(Readable.from(data.length > 0 ? [data] : [])),
	});
}

async function fileSource(file: string): Promise<ByteSource> {
	const { size } = await stat(file);
	return {
		fileName: path.basename(file),
		size,
		open: () => Promise.resolve(createReadStream(file)),
	};
}
