import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { createFileId, type FileRegistry, type StoredFile } from '../files.ts';
import { ApiError, type Call, type Reply, type Service } from '../service.ts';
import { buildContent, type Content } from './content.ts';
import { selectFields } from './fields.ts';
import { Library, type Media } from './library.ts';
import { listFiles, cutPage } from './listing.ts';
import { renderFile } from './resource.ts';
import type { SessionFaults, UploadSession } from './session.ts';
import { exportFormats, isWorkspaceType } from './types.ts';
import { Uploads } from './uploads.ts';

export interface DriveService extends Service {
	/** @returns the new shared drive's ID */
	seedSharedDrive(name: string): string;
	/** Adds a binary file. @returns its ID */
	seedFile(file: Parameters<FileRegistry['add']>[0], data: Buffer): string;
	/** A binary file's bytes. */
	content(fileId: string): Content | undefined;
	/** All resumable sessions, in order. */
	readonly sessions: readonly UploadSession[];
	/** Faults that affect resumable sessions from now on. */
	readonly faults: SessionFaults;
	/**
	 * Handles a request to a session's address; undefined if the connection was cut and nobody waits for an
	 * answer.
	 */
	putToSession(uploadId: string, request: IncomingMessage): Promise<Reply | undefined>;
}

interface DriveOptions {
	readonly files: FileRegistry;
	readonly keepContent?: boolean;
}

const fileFields = 'kind,id,name,mimeType';

/** @param options `keepContent`: whether the bytes of files are kept, not only sizes and checksums */
export function createDriveService(options: DriveOptions): DriveService {
	const { files, keepContent = true } = options;
	const library = new Library(files);
	const uploads = new Uploads(keepContent);

	const render = (call: Call, file: StoredFile) => ({
		...renderFile(file, library.contents.get(file.id), call),
		trashed: files.isTrashed(file),
	});
	const show = (call: Call, file: StoredFile) => answer(call, render(call, file), fileFields);
	const findFile = (call: Call) => library.find(call, String(call.params['fileId']));

	function readMedia({ media }: Call): Media | undefined {
		if (media === undefined) return undefined;
		const { contentType, data } = media;
		return { contentType, content: buildContent(data, keepContent) };
	}

	function save(call: Call, media: Media | undefined): Reply {
		if (call.method === 'drive.files.create')
			return show(call, library.create(call, readMetadata(call), media));
		const file = findFile(call);
		library.update(call, file, readMetadata(call), media);
		return show(call, file);
	}

	return {
		methods: {
			'drive.files.create': (call) => save(call, readMedia(call)),
			'drive.files.update': (call) => save(call, readMedia(call)),
			'drive.files.copy': (call) =>
				show(call, library.copy(call, findFile(call), readMetadata(call))),
			'drive.files.get': (call) => {
				const file = findFile(call);
				if (call.params['alt'] !== 'media') return show(call, file);
				// Some scopes show the name of a file without allowing its content to be read.
				library.find({ ...call, method: 'drive.files.download' }, file.id);
				return { body: library.contents.get(file.id)?.data ?? refuseDownload() };
			},
			'drive.files.export': (call) => {
				// Unlike other methods, this one finds files in shared drives without `supportsAllDrives`.
				const params = { ...call.params, supportsAllDrives: 'true' };
				const { id, mimeType, name } = findFile({ ...call, params });
				const texts = files.textReaders.map((read) => read(id));
				const text = texts.find((found) => found !== undefined) ?? name;
				const target = String(call.params['mimeType']);
				const body = exportFile(mimeType, target, text);
				return { headers: { 'Content-Type': target }, body };
			},
			'drive.files.list': (call) => {
				const { entries, nextPageToken } = listFiles(library, call);
				const found = entries.map((file) => render(call, file));
				const page = { incompleteSearch: false, files: found, nextPageToken };
				const standard = `kind,incompleteSearch,nextPageToken,files(${fileFields})`;
				return answer(call, { kind: 'drive#fileList', ...page }, standard);
			},
			'drive.files.generateIds': (call) =>
				answer(call, generateIds(call, library.generatedIds), '*'),
			'drive.drives.list': (call) => {
				const all = [...library.sharedDrives.values()];
				const { entries, nextPageToken } = cutPage(all, call, 10, 100);
				const drives = entries.map((drive) => ({ kind: 'drive#drive', ...drive }));
				const body = { kind: 'drive#driveList', drives, nextPageToken };
				return answer(call, body, 'kind,nextPageToken,drives(kind,id,name)');
			},
			'drive.about.get': (call) => answer(call, describeAbout(call), undefined),
		},
		startSession(call, address) {
			const contentType = call.headers['x-upload-content-type'] ?? 'application/octet-stream';
			if (call.method === 'drive.files.create')
				library.check(call, readMetadata(call), contentType);
			else findFile(call);
			return uploads.start(call, address, (content) => save(call, { contentType, content }));
		},
		putToSession: (uploadId, request) => uploads.put(uploadId, request),
		sessions: uploads.sessions,
		faults: uploads.faults,
		content: (fileId) => library.contents.get(fileId),
		seedFile(file, data) {
			const { id } = files.add(file);
			library.contents.set(id, buildContent(data, keepContent));
			return id;
		},
		seedSharedDrive(name) {
			const id = `0A${randomBytes(12).toString('base64url')}Uk9PVA`;
			library.sharedDrives.set(id, { id, name });
			return id;
		},
		reset() {
			library.contents.clear();
			library.sharedDrives.clear();
			library.generatedIds.clear();
			uploads.reset();
		},
	};
}

function readMetadata({ body }: Call): drive_v3.Schema$File {
	return body ?? {};
}

/** Answers with the fields that the call wants. @param standard the fields if it names none; undefined if it must */
function answer({ params }: Call, body: unknown, standard: string | undefined): Reply {
	const fields = params['fields'] ?? standard;
	if (fields === undefined) {
		const message = "The 'fields' parameter is required for this method.";
		throw new ApiError(400, message, { reason: 'required' });
	}
	return { body: selectFields(body, String(fields)) };
}

function refuseDownload(): never {
	const message =
		'Only files with binary content can be downloaded. Use Export with Docs Editors files.';
	throw new ApiError(403, message, { reason: 'fileNotDownloadable' });
}

/** 10 MB: https://developers.google.com/workspace/drive/api/guides/manage-downloads */
const maxExportBytes = 10 * 2 ** 20;

/** Returns the target type and the text, in place of a file of that type. */
function exportFile(mimeType: string, target: string, text: string): Buffer {
	if (!isWorkspaceType(mimeType)) {
		const message = 'Export only supports Docs Editors files.';
		throw new ApiError(403, message, { reason: 'fileNotExportable' });
	}
	if (!exportFormats[mimeType]?.includes(target)) {
		throw new ApiError(400, 'The requested conversion is not supported.', {
			reason: 'badRequest',
		});
	}
	const bytes = Buffer.from(`${target}\n${text}`);
	if (bytes.length <= maxExportBytes) return bytes;
	const message = 'This file is too large to be exported.';
	throw new ApiError(403, message, { reason: 'exportSizeLimitExceeded' });
}

function generateIds({ params }: Call, generated: Set<string>): drive_v3.Schema$GeneratedIds {
	const count = Number(params['count'] ?? 10);
	if (!Number.isInteger(count) || count < 1 || count > 1000) {
		throw new ApiError(400, 'Invalid Value', { reason: 'invalid' });
	}
	const ids = Array.from({ length: count }, createFileId);
	for (const id of ids) generated.add(id);
	return { kind: 'drive#generatedIds', space: 'drive', ids };
}

function describeAbout({ user }: Call): drive_v3.Schema$About {
	const displayName = user.split('@')[0];
	return { user: { kind: 'drive#user', displayName, emailAddress: user, me: true } };
}
