import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { createDriveService } from '../../dev/google/drive/service';
import { FileRegistry, fullDriveScope } from '../../dev/google/files';
import { ApiError, type Call } from '../../dev/google/service';

export const files = new FileRegistry();
export const service = createDriveService({ files });

export const appFiles = [`${fullDriveScope}.file`];
export const allFiles = [fullDriveScope];

type Given = Partial<Call> & { readonly params?: Call['params'] };

function call(method: string, given: Given): unknown {
	const reply = service.methods[method]?.({
		method,
		params: {},
		body: undefined,
		user: 'someone@example.com',
		clientId: 'client',
		scopes: allFiles,
		headers: {},
		...given,
	});
	if (reply === undefined || reply instanceof Promise) throw new Error(`no answer to ${method}`);
	return reply.body;
}

export function create(metadata: drive_v3.Schema$File, given: Given = {}): drive_v3.Schema$File {
	const params = { supportsAllDrives: 'true', fields: '*', ...given.params };
	return call('drive.files.create', { ...given, body: metadata, params }) as drive_v3.Schema$File;
}

export function get(fileId: string, given: Given = {}): drive_v3.Schema$File {
	return call('drive.files.get', {
		...given,
		params: { fileId, fields: '*', ...given.params },
	}) as drive_v3.Schema$File;
}

export function update(
	fileId: string,
	metadata: drive_v3.Schema$File,
	given: Given = {},
): drive_v3.Schema$File {
	const params = { fileId, supportsAllDrives: 'true', fields: '*', ...given.params };
	return call('drive.files.update', { ...given, body: metadata, params }) as drive_v3.Schema$File;
}

export function list(params: Call['params'], given: Given = {}): drive_v3.Schema$FileList {
	return call('drive.files.list', { ...given, params }) as drive_v3.Schema$FileList;
}

/** Names of the files that a search finds, sorted. */
export function found(q: string, given: Given = {}): string[] {
	return (list({ q }, given).files ?? []).map(({ name }) => name ?? '').sort();
}

export function drives(params: Call['params'] = {}): drive_v3.Schema$DriveList {
	return call('drive.drives.list', { params }) as drive_v3.Schema$DriveList;
}

export function about(params: Call['params'] = {}): drive_v3.Schema$About {
	return call('drive.about.get', { params }) as drive_v3.Schema$About;
}

export function generateIds(count: number): string[] {
	const body = call('drive.files.generateIds', { params: { count: String(count) } });
	return (body as drive_v3.Schema$GeneratedIds).ids ?? [];
}

export function media(contentType: string, text: string): Pick<Call, 'media'> {
	return { media: { contentType, data: Buffer.from(text) } };
}

/** `<code> <reason>: <message>` of a refusal. */
export function refused(attempt: () => unknown): string {
	try {
		attempt();
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		return `${error.code} ${error.reason ?? '-'}: ${error.message}`;
	}
	throw new Error('was not refused');
}
