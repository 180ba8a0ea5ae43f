import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { ApiError, type Call, type Reply } from '../service.ts';
import type { Content } from './content.ts';
import { UploadSession, type SessionFaults } from './session.ts';

/** The resumable uploads of a service. */
export class Uploads {
	/** All sessions started so far, in order. */
	readonly sessions: UploadSession[] = [];
	/** Faults of the next session to be served. */
	faults: SessionFaults = { resetAt: [] };
	private readonly open = new Map<string, UploadSession>();
	private readonly keepContent: boolean;

	constructor(keepContent: boolean) {
		this.keepContent = keepContent;
	}

	/**
	 * @param address address of the session, without its ID
	 * @param finish creates the file from the content and answers
	 */
	start(call: Call, address: URL, finish: (content: Content) => Reply): Reply {
		const announced = call.headers['x-upload-content-length'];
		const session = new UploadSession({
			id: randomBytes(16).toString('base64url'),
			total: announced === undefined ? undefined : Number(announced),
			keepContent: this.keepContent,
			faults: this.faults,
			finish,
		});
		this.sessions.push(session);
		this.open.set(session.id, session);
		const location = new URL(address);
		location.searchParams.set('uploadType', 'resumable');
		location.searchParams.set('upload_id', session.id);
		return { headers: { Location: location.href, 'X-GUploader-UploadID': session.id } };
	}

	/** @returns undefined if nobody waits for an answer */
	async put(uploadId: string, request: IncomingMessage): Promise<Reply | undefined> {
		const { lost } = this.faults;
		if (lost !== undefined) {
			this.faults.lost = undefined;
			this.open.delete(uploadId);
			throw new ApiError(lost, 'The upload session is gone.', { reason: 'notFound' });
		}
		const session = this.open.get(uploadId);
		if (session === undefined)
			throw new ApiError(404, 'The upload session was not found.', { reason: 'notFound' });
		return session.put(request);
	}

	reset(): void {
		this.sessions.length = 0;
		this.open.clear();
		const none = { keepOnly: undefined, lost: undefined, resetAfterNext: undefined };
		Object.assign(this.faults, none, { resetAt: [] });
	}
}
