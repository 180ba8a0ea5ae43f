import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import {
	createUsedIdError,
	fullDriveScope,
	isServiceAccount,
	type FileRegistry,
	type StoredFile,
} from '../files.ts';
import { ApiError, type Call } from '../service.ts';
import type { Content } from './content.ts';
import { rootId } from './resource.ts';
import { folderType, importFormats, isWorkspaceType, takesGeneratedId } from './types.ts';

/** The part of a call that decides what the call may do. */
export type Caller = Pick<Call, 'method' | 'params' | 'user' | 'clientId' | 'scopes'>;

export interface Media {
	readonly contentType: string;
	readonly content: Content;
}

/** Files, folders and shared drives according to Drive's rules. */
export class Library {
	readonly contents = new Map<string, Content>();
	readonly sharedDrives = new Map<string, { readonly id: string; readonly name: string }>();
	readonly generatedIds = new Set<string>();
	readonly files: FileRegistry;

	constructor(files: FileRegistry) {
		this.files = files;
	}

	/** @throws ApiError 404 if the caller may not know about the file, as in Drive */
	find(caller: Caller, id: string): StoredFile {
		const file = this.files.get(id);
		if (file === undefined || !this.files.isVisibleTo(caller, file))
			throw createNotFoundError(id);
		if (file.driveId !== undefined && !supportsAllDrives(caller)) throw createNotFoundError(id);
		return file;
	}

	/**
	 * Throws what `create` would throw, without creating anything, because a resumable session is refused at
	 * its start.
	 */
	check(caller: Caller, metadata: drive_v3.Schema$File, contentType?: string): void {
		const target = metadata.mimeType ?? contentType ?? 'application/octet-stream';
		if (metadata.id) this.checkId(metadata.id, target);
		if (contentType !== undefined && isWorkspaceType(target))
			checkConversion(contentType, target);
		const { driveId } = this.resolveParents(caller, metadata.parents ?? []);
		if (isServiceAccount(caller) && driveId === undefined && target !== folderType)
			throw createNoStorageError(target);
	}

	create(caller: Caller, metadata: drive_v3.Schema$File, media?: Media): StoredFile {
		this.check(caller, metadata, media?.contentType);
		const mimeType = metadata.mimeType ?? media?.contentType ?? 'application/octet-stream';
		const file = this.files.add({
			id: metadata.id ?? undefined,
			name: metadata.name ?? 'Untitled',
			mimeType,
			clientId: caller.clientId,
			description: metadata.description ?? undefined,
			properties: metadata.properties ?? {},
			appProperties: metadata.appProperties ?? {},
			createdTime: metadata.createdTime ?? undefined,
			...this.resolveParents(caller, metadata.parents ?? []),
		});
		if (media && !isWorkspaceType(mimeType)) this.contents.set(file.id, media.content);
		return file;
	}

	/** Copies into the original's folder unless another is given. Private properties of the original are not copied. */
	copy(caller: Caller, original: StoredFile, metadata: drive_v3.Schema$File): StoredFile {
		const { mimeType, parents } = original;
		if (mimeType === folderType) {
			const message = 'This file cannot be copied by the user.';
			throw new ApiError(403, message, { reason: 'cannotCopyFile' });
		}
		const name = metadata.name ?? `Copy of ${original.name}`;
		const file = this.create(caller, { parents, ...metadata, name, mimeType });
		const content = this.contents.get(original.id);
		if (content) this.contents.set(file.id, content);
		for (const listener of this.files.onCopied) listener(original, file);
		return file;
	}

	update(caller: Caller, file: StoredFile, metadata: drive_v3.Schema$File, media?: Media): void {
		file.name = metadata.name ?? file.name;
		file.mimeType = metadata.mimeType ?? file.mimeType;
		file.description = metadata.description ?? file.description;
		file.trashed = metadata.trashed ?? file.trashed;
		Object.assign(file.properties, metadata.properties);
		Object.assign(file.appProperties, metadata.appProperties);
		const added = String(caller.params['addParents'] ?? '')
			.split(',')
			.filter(Boolean);
		if (added.length > 0) Object.assign(file, this.resolveParents(caller, added));
		if (media && !isWorkspaceType(file.mimeType)) this.contents.set(file.id, media.content);
	}

	private checkId(id: string, mimeType: string): void {
		if (this.files.get(id)) throw createUsedIdError();
		if (!takesGeneratedId(mimeType)) {
			const message = 'Generated IDs are not supported for Docs Editors formats.';
			throw new ApiError(403, message, { reason: 'generatedIdNotSupported' });
		}
		if (!this.generatedIds.has(id)) {
			throw new ApiError(400, 'The provided file ID is not usable.', { reason: 'invalid' });
		}
	}

	private resolveParents(
		caller: Caller,
		ids: readonly string[],
	): Pick<StoredFile, 'parents' | 'driveId'> {
		if (ids.length > 1) {
			throw new ApiError(400, 'A file must have exactly one parent.', { reason: 'invalid' });
		}
		const [id = 'root'] = ids;
		if (id === 'root' || id === rootId) return { parents: ['root'], driveId: undefined };
		if (this.sharedDrives.has(id)) {
			if (!supportsAllDrives(caller) || !caller.scopes.includes(fullDriveScope))
				throw createNotFoundError(id);
			return { parents: [id], driveId: id };
		}
		const folder = this.find(caller, id);
		if (folder.mimeType !== folderType) {
			const message = 'The specified parent is not a folder.';
			throw new ApiError(403, message, { reason: 'parentNotAFolder' });
		}
		return { parents: [id], driveId: folder.driveId };
	}
}

function checkConversion(sourceType: string, targetType: string): void {
	const type = sourceType.split(';')[0]?.trim().toLowerCase() ?? '';
	if (importFormats[targetType]?.includes(type)) return;
	const message =
		'Conversion of the uploaded content to the requested output type is not supported.';
	throw new ApiError(400, message, { reason: 'conversionUnsupportedConversionPath' });
}

export function supportsAllDrives({ params }: Pick<Call, 'params'>): boolean {
	return params['supportsAllDrives'] === 'true';
}

/**
 * A service account would own the file, but has no storage: n8n-io/n8n#26050, Jumbo810/Upload_Github_Artifacts_TO_GDrive#22; for Google's
 * own formats openclaw/openclaw#20427.
 */
function createNoStorageError(mimeType: string): ApiError {
	const message = isWorkspaceType(mimeType)
		? "The user's Drive storage quota has been exceeded."
		: 'Service Accounts do not have storage quota. Leverage shared drives (https://developers.google.com/workspace/drive/api/guides/about-shareddrives), or use OAuth delegation (http://support.google.com/a/answer/7281227) instead.';
	return new ApiError(403, message, { reason: 'storageQuotaExceeded' });
}

export function createNotFoundError(id: string): ApiError {
	return new ApiError(404, `File not found: ${id}.`, { reason: 'notFound' });
}
