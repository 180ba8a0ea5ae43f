import { createHash } from 'node:crypto';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../../../dev/google/server';
import { isFailure, type Failure } from '../../../../nodes/items/failure';
import { upload, type UploadParams } from '../../../../nodes/Workspace/actions/file/upload.operation';
import { testClients, testItem, type TestItem } from '../../client';

export const MiB = 1024 * 1024;
export const md5 = (data: Buffer | string) => createHash('md5').update(data).digest('hex');
export const base64 = (text: string) => Buffer.from(text).toString('base64');

const defaults: UploadParams = {
	name: 'a.txt',
	contentSource: 'base64',
	binaryPropertyName: 'data',
	content: '',
	mimeType: '',
	parentFolder: '',
	convertTo: 'none',
	description: '',
	properties: [],
};

/** The stand-in of this test file, and uploads to it. */
export class Uploads {
	google!: GoogleServer;

	/** Starts the stand-in before the tests of the file; none of them may break the contract. */
	constructor() {
		beforeAll(async () => {
			this.google = await startGoogle();
		});
		beforeEach(() => {
			// The shortest waits between two tries.
			jest.spyOn(Math, 'random').mockReturnValue(0);
		});
		afterAll(async () => {
			await this.google.close();
		});
		afterEach(() => {
			expectNoViolations(this.google);
			this.google.reset();
		});
	}

	client() {
		const token = this.google.tokens.issue();
		return testClients(this.google.url, token, { maxTries: 3 });
	}

	async run(params: Partial<UploadParams>, item: TestItem = testItem(), clients = this.client()) {
		return await upload.execute(clients, { ...defaults, ...params }, item);
	}

	/** As the runner does it: an ambiguous failure is looked into. */
	async runAndRecover(params: Partial<UploadParams>, item: TestItem) {
		const clients = this.client();
		return await this.run(params, item, clients).catch(async (error: unknown) => {
			if (!isFailure(error) || !error.ambiguous) throw error;
			const found = await upload.recover?.(clients, { ...defaults, ...params }, error, item);
			if (!found) throw error;
			return found;
		});
	}

	/** Method ids of the requests, in order. */
	calls() {
		return this.google.requests.map(({ method }) => method);
	}

	files() {
		return this.google.files.all();
	}
}

export async function failed(running: Promise<unknown>): Promise<Failure> {
	const error = await running.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	if (!isFailure(error)) throw new Error('no Failure', { cause: error });
	return error;
}
