import { randomBytes } from 'node:crypto';

import { ApiError, type Call } from './service.ts';

/** A file as shared by all services: Drive lists it, Sheets and Docs store its content. */
export interface StoredFile {
	readonly id: string;
	name: string;
	mimeType: string;
	parents: string[];
	/** The shared drive that contains it, if any. */
	driveId: string | undefined;
	trashed: boolean;
	description: string | undefined;
	properties: Record<string, string>;
	/** Properties that only the client that set them can see. */
	appProperties: Record<string, string>;
	/** The OAuth client that created it. With `drive.file`, a client sees only its own files. */
	readonly clientId: string;
	readonly createdTime: string;
	/** Service accounts that a user has shared it with, by email address. */
	readonly sharedWith: readonly string[];
}

/** The part of a call that decides which files it may know. */
type Asker = Pick<Call, 'method' | 'user' | 'clientId' | 'scopes'>;

/** Whether a service account acts for itself. If it acts for a user (domain-wide delegation), its calls have that user instead. */
export const isServiceAccount = ({ user }: Pick<Call, 'user'>): boolean =>
	user.endsWith('.gserviceaccount.com');

export const fullDriveScope = 'https://www.googleapis.com/auth/drive';

export const createFileId = (): string => `1${randomBytes(24).toString('base64url')}`;

export const createUsedIdError = (): ApiError =>
	new ApiError(409, 'A file already exists with the provided ID.', { reason: 'fileIdInUse' });

/** The files of all services in one place. */
export class FileRegistry {
	private readonly files = new Map<string, StoredFile>();
	/** Called for every new file, so that Sheets and Docs can create content for files made through Drive. */
	readonly onCreated: Array<(file: StoredFile) => void> = [];

	/** Called for every copy, so that its content is copied, too. */
	readonly onCopied: Array<(from: StoredFile, to: StoredFile) => void> = [];

	/** Returns the text of a file for an export, or undefined if the file belongs to another service. */
	readonly textReaders: Array<(id: string) => string | undefined> = [];

	/** @throws ApiError 409 if the ID already exists */
	add(
		file: Pick<StoredFile, 'name' | 'mimeType' | 'clientId'> & Partial<StoredFile>,
	): StoredFile {
		const stored: StoredFile = {
			id: file.id ?? createFileId(),
			name: file.name,
			mimeType: file.mimeType,
			parents: file.parents ?? ['root'],
			driveId: file.driveId,
			trashed: file.trashed ?? false,
			description: file.description,
			properties: { ...file.properties },
			appProperties: { ...file.appProperties },
			clientId: file.clientId,
			createdTime: file.createdTime ?? new Date().toISOString(),
			sharedWith: file.sharedWith ?? [],
		};
		if (this.files.has(stored.id)) throw createUsedIdError();
		this.files.set(stored.id, stored);
		for (const listener of this.onCreated) listener(stored);
		return stored;
	}

	listAll(): StoredFile[] {
		return [...this.files.values()];
	}

	get(id: string): StoredFile | undefined {
		return this.files.get(id);
	}

	/**
	 * Whether the file or a folder above it is in the trash. Drive accepts new files in such a folder: googleapis/google-api-ruby-client#626,
	 * googleworkspace/android-samples#66.
	 */
	isTrashed({ trashed, parents }: Pick<StoredFile, 'trashed' | 'parents'>): boolean {
		const folders = parents.map((id) => this.get(id));
		return trashed || folders.some((folder) => folder && this.isTrashed(folder));
	}

	/**
	 * Whether the call's token may know about the file in the called API: `spreadsheets` shows every
	 * spreadsheet in the Sheets API and nothing in the Drive API; `drive.file` shows, in every API, only
	 * files created by its own client. A service account also needs the file to be shared with it.
	 */
	isVisibleTo(call: Asker, file: StoredFile): boolean {
		if (isServiceAccount(call) && !isSharedWith(call, file)) return false;
		return this.isInScope(call, file);
	}

	/** @throws ApiError 403 in Sheets and Docs, which tell a service account of a file that is not shared with it */
	checkShared(call: Asker, file: StoredFile): void {
		// Reported in nikaia/translation-sheet#8 and googleapis/google-api-ruby-client#461.
		if (isServiceAccount(call) && !isSharedWith(call, file) && this.isInScope(call, file))
			throw createNotAllowedError();
	}

	/**
	 * Reported in burnash/gspread#732 and theoephraim/node-google-spreadsheet#651.
	 * @throws ApiError 400 in Sheets and Docs for a visible file of another type
	 */
	checkType(call: Call, file: StoredFile | undefined, mimeType: string): void {
		if (file === undefined || file.mimeType === mimeType || !this.isVisibleTo(call, file))
			return;
		const message = 'This operation is not supported for this document';
		throw new ApiError(400, message, { status: 'FAILED_PRECONDITION' });
	}

	private isInScope(call: Asker, file: StoredFile): boolean {
		const api = call.method.slice(0, call.method.indexOf('.'));
		const seesNames = call.method === 'drive.files.list' || call.method === 'drive.files.get';
		const seesAll = call.scopes.some(
			(scope) =>
				wholeDrive.has(scope) ||
				wholeApi[api]?.has(scope) ||
				(seesNames && namesOfDrive.has(scope)),
		);
		return seesAll || file.clientId === call.clientId;
	}

	clear(): void {
		this.files.clear();
	}
}

function isSharedWith({ user, clientId }: Asker, file: StoredFile): boolean {
	return (
		file.sharedWith.includes(user) || file.driveId !== undefined || file.clientId === clientId
	);
}

/** A service account may not create a file in Sheets or Docs, because it has no Drive: xing5/mcp-google-sheets#24. */
export function checkCreates(call: Pick<Call, 'user'>): void {
	if (isServiceAccount(call)) throw createNotAllowedError();
}

function createNotAllowedError(): ApiError {
	const message = 'The caller does not have permission';
	return new ApiError(403, message, { status: 'PERMISSION_DENIED' });
}

/** Scopes that give access to every file in every API. */
const wholeDrive = withReadonly(fullDriveScope);

/** Scopes that show the metadata of every file in Drive. They do not allow putting files into a folder. */
const namesOfDrive = withReadonly(`${fullDriveScope}.metadata`);

/** Scopes that give access to every file in one API, by the first part of its method IDs. */
const wholeApi: Readonly<Record<string, ReadonlySet<string>>> = {
	sheets: withReadonly('https://www.googleapis.com/auth/spreadsheets'),
	docs: withReadonly('https://www.googleapis.com/auth/documents'),
};

function withReadonly(scope: string): ReadonlySet<string> {
	return new Set([scope, `${scope}.readonly`]);
}
