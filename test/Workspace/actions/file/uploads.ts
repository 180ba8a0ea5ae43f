import { createHash } from 'node:crypto';

import { upload } from '../../../../nodes/Workspace/actions/file/upload.operation';
import type { UploadParams } from '../../../../nodes/Workspace/actions/file/fields';
import { testClients, testItem, type TestItem } from '../../client';
import { performOperation } from '../../performOperation';
import { StandIn } from '../../standIn';

export const MiB = 1024 * 1024;
export const md5 = (data: Buffer | string) => createHash('md5').update(data).digest('hex');
export const base64 = (text: string) => Buffer.from(text).toString('base64');

const defaults: UploadParams = {
	name: 'a.txt',
	contentSource: 'base64',
	binaryPropertyName: ['data'],
	content: '',
	messageId: '',
	attachment: '',
	mimeType: '',
	parentFolder: '',
	convertTo: 'none',
	description: '',
	idempotencyKey: '',
	onExisting: 'createNew',
	onlyFiles: [],
};

/** The stand-in of a test file, and uploads to it. */
export class Uploads extends StandIn {
	constructor() {
		super();
		beforeEach(() => {
			// The shortest waits between two tries.
			jest.spyOn(Math, 'random').mockReturnValue(0);
		});
	}

	client() {
		const token = this.google.tokens.issue();
		return testClients(this.google.url, token, {
			maxRetryWaitMilliseconds: 500,
			operationAdvice: upload.advice,
		});
	}

	/** Uploads one file. @throws NodeError */
	async run(params: Partial<UploadParams>, item: TestItem = testItem(), clients = this.client()) {
		const all = { ...defaults, ...params };
		const [file, ...others] = await performOperation(upload, { params: all, item }, clients);
		if (!file || others.length > 0)
			throw new Error(`Uploaded ${others.length + 1} files instead of one`);
		return file;
	}

	/** Uploads a text, given as base64. @throws NodeError */
	upload(text: string, params: Partial<UploadParams> = {}, item?: TestItem) {
		return this.run({ content: base64(text), ...params }, item);
	}

	/** Uploads the bytes of a binary field. @throws NodeError */
	uploadBytes(data: Buffer, params: Partial<UploadParams> = {}) {
		const item = testItem({ binary: { data: { data } } });
		return this.run({ contentSource: 'binary', ...params }, item);
	}

	/** Method ids of the requests, in order. */
	calls() {
		return this.google.requests.map(({ method }) => method);
	}

	files() {
		return this.google.files.listAll();
	}
}
