import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

import type { DriveUploadRequest, UploadedFile } from '../../../nodes/Workspace/google/upload';
import type { ByteSource } from '../../../nodes/Workspace/operation';
import { testClients } from '../client';
import { StandIn } from '../standIn';

export const MiB = 1024 * 1024;
/** Bytes of a whole chunk. */
export const chunk = 8 * MiB;
/** Two chunks and a part of one. */
export const size = 2 * chunk + 3 * MiB + 17;
export const bytes = randomBytes(size);
const wanted = createHash('md5').update(bytes).digest('hex');

/** The stand-in of a test file, and uploads in three chunks to it. */
export class LargeUploads extends StandIn {
	/** How often a source was opened. */
	opened = 0;

	constructor() {
		super();
		beforeEach(() => {
			// The shortest waits between two tries.
			jest.spyOn(Math, 'random').mockReturnValue(0);
			this.opened = 0;
		});
	}

	async send(
		given: Partial<DriveUploadRequest> = {},
		maxRetryWaitMilliseconds = 60_000,
	): Promise<UploadedFile> {
		const clients = testClients(this.google.url, this.google.tokens.issue(), {
			maxRetryWaitMilliseconds,
		});
		return await clients.uploadToDrive({
			metadata: { name: 'a.bin' },
			mimeType: 'application/octet-stream',
			source: this.sourceOf(bytes),
			fields: 'id,name,md5Checksum,size',
			...given,
		});
	}

	/** The data in pieces, as n8n's modes give it: a file in small ones, a database row as one. */
	sourceOf(data: Buffer, pieceBytes = 64 * 1024, announced = data.length): ByteSource {
		const pieces = function* () {
			for (let at = 0; at < data.length; at += pieceBytes)
				yield data.subarray(at, at + pieceBytes);
		};
		return {
			size: announced,
			open: () => {
				this.opened++;
				return Promise.resolve(Readable.from(pieces()));
			},
		};
	}

	/** `Content-Range` of the requests to sessions, in order, without the unit. */
	ranges() {
		return this.google.requests.flatMap(({ method, headers }) =>
			method === 'upload.session'
				? [String(headers['content-range']).replace('bytes ', '')]
				: [],
		);
	}

	fileCount() {
		return this.google.files.listAll().length;
	}

	sentBytes() {
		return this.google.drive.sessions.reduce((sum, session) => sum + session.receivedBytes, 0);
	}

	expectWhole({ file, md5 }: UploadedFile): void {
		expect({
			md5,
			checksum: file.md5Checksum,
			size: file.size,
			files: this.fileCount(),
		}).toEqual({ md5: wanted, checksum: wanted, size: String(size), files: 1 });
	}
}
