import { createHash } from 'node:crypto';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../../../dev/google/server';
import { upload } from '../../../../nodes/Workspace/actions/file/upload.operation';
import type { UploadParams } from '../../../../nodes/Workspace/actions/file/fields';
import { testClients, testItem, type TestItem } from '../../client';
import { resultOf } from '../../performed';

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
	idempotencyKey: '',
	onExisting: 'createNew',
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
		return testClients(this.google.url, token, { maxTries: 3, advice: upload.errors });
	}

	/** @throws NodeError */
	async run(params: Partial<UploadParams>, item: TestItem = testItem(), clients = this.client()) {
		const all = { ...defaults, ...params };
		return await resultOf(upload, { params: all, item }, clients);
	}

	/** Method ids of the requests, in order. */
	calls() {
		return this.google.requests.map(({ method }) => method);
	}

	files() {
		return this.google.files.all();
	}
}
