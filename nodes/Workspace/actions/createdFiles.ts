import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { ignoreNotFound, NodeError } from '../../core/errors';
import { type Field, quoteField } from '../../fields/field';
import { hashParts, type KeyHashes, hashIdempotencyKey, createKeyReusedError } from '../idempotency';
import { buildFileLocator } from '../locators';
import type { Item, CreatedFile } from '../operation';

type File = drive_v3.Schema$File;

/** The beginning of the types of Google's own files. */
export const googleTypePrefix = 'application/vnd.google-apps.';

/** @param content what the file is created from @returns undefined without a key */
export function hashFileKey(
	operation: string,
	{ idempotencyKey: key, parentFolder }: { readonly idempotencyKey: string; readonly parentFolder: string },
	content: readonly string[],
): KeyHashes | undefined {
	// Choosing My Drive means the same folder as leaving the field empty.
	const mark = hashIdempotencyKey({ key, operation, target: parentFolder === 'root' ? '' : parentFolder });
	return mark === undefined ? undefined : { mark, content: hashParts(content) };
}

interface CreationSteps<R> {
	readonly key: KeyHashes;
	/** ID of a file that this execution created, although no answer confirmed it. */
	readonly ownId?: string;
	/** Creates the file with these private properties, or returns a result that needs no new file. */
	readonly create: (
		appProperties: Readonly<Record<string, string>>,
	) => Promise<Pick<File, 'id'> | { readonly instead: R }>;
	/** Completes an unfinished file. Must be safe to repeat, even in parallel executions. Returns a function that reads the result. */
	readonly finish: (
		file: File,
		state: { readonly isOwn: boolean; readonly isDone: boolean },
	) => Promise<() => R | Promise<R>>;
}

const markKey = 'idempotencyMark';
const contentKey = 'idempotencyContent';
const stateKey = 'idempotencyState';

/**
 * Creates a file once for a key, across executions. Drive cannot refuse a second file, so each execution
 * searches again after it created its own. All executions keep the same file (a complete one, otherwise the
 * oldest) and trash the unfinished others, which no execution has reported yet.
 * @param fields to read of each file, for `finish`
 */
export async function createOnce<R extends object>(
	drive: drive_v3.Drive,
	fields: string,
	{ key, ownId, create: make, finish }: CreationSteps<R>,
): Promise<R & { readonly repeated?: true }> {
	const allFields = `${fields},createdTime,appProperties`;
	const findMarked = async () => await findFiles(drive, buildPropertySearch(markKey, key.mark), allFields);
	const known = await findMarked();
	const properties = { [markKey]: key.mark, [contentKey]: key.content, [stateKey]: 'made' };
	const created = known.length > 0 ? undefined : await make(properties);
	if (created && 'instead' in created) return created.instead;
	const all = created ? await addOwnFile(drive, await findMarked(), created.id ?? '', allFields) : known;
	const [kept, ...others] = all.toSorted(compareRank);
	if (!kept) {
		throw new NodeError({
			code: 503,
			message: `Another execution with the same ${quoteField('idempotencyKey')} put the file ${created?.id ?? ''} into the trash`,
			description: 'Its own file cannot be found yet. Run this again.',
		});
	}
	for (const other of others) if (!isDone(other)) await updateFile(drive, other, { trashed: true });
	if (kept.appProperties?.[contentKey] !== key.content)
		throw createKeyReusedError(`the file ${kept.id ?? ''}`);
	const state = { isOwn: kept.id === (created?.id ?? ownId), isDone: isDone(kept) };
	const readResult = await finish(kept, state);
	// Marks the file as done before reading the result: if reading fails, the next run must not replace placeholders again.
	if (!state.isDone) await updateFile(drive, kept, { appProperties: { [stateKey]: 'done' } });
	const result = await readResult();
	return state.isOwn ? result : { ...result, repeated: true };
}

/** Adds the new file, which the search may not list yet. Leaves it out if another execution has trashed it. */
async function addOwnFile(drive: drive_v3.Drive, found: readonly File[], fileId: string, fields: string) {
	if (found.some(({ id }) => id === fileId)) return found;
	const request = { fileId, supportsAllDrives: true, fields: `${fields},trashed` };
	const { data } = await drive.files.get(request);
	return data.trashed ? found : [...found, data];
}

const isDone = ({ appProperties }: File) => appProperties?.[stateKey] === 'done';

/** An order on which all executions agree. */
function compareRank(a: File, b: File): number {
	if (isDone(a) !== isDone(b)) return isDone(a) ? -1 : 1;
	const rank = (file: File) => `${file.createdTime ?? ''} ${file.id ?? ''}`;
	return rank(a) < rank(b) ? -1 : 1;
}

/** Safe to repeat: a second update changes nothing. */
async function updateFile(drive: drive_v3.Drive, { id }: File, requestBody: File): Promise<void> {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	const repeatable = { retryConfig: { httpMethodsToRetry: ['PATCH'] } };
	const updated = drive.files.update(request, repeatable);
	// Another execution may have been faster, so a file that is gone is no error.
	await (requestBody.trashed ? ignoreNotFound(updated) : updated);
}

/** Advice if Google does not find the parent folder. */
export const missingFolderAdvice = `Check that ${quoteField('parentFolder')} exists and that this account can access it.`;

/** A property that other apps cannot see. */
const tokenKey = 'creationToken';

interface NewFile<R> extends Pick<CreatedFile, 'kind'> {
	/** One of Google's own types, such as `application/vnd.google-apps.document`. */
	readonly mimeType: string;
	readonly buildUrl: (id: string) => string;
	readonly title: string;
	/** ID; '' for the top level of My Drive. */
	readonly parentFolder: string;
	/** A file to copy; empty for none. */
	readonly templateId?: string;
	/** With a key, the file is created once. */
	readonly key: KeyHashes | undefined;
	/** As in `createOnce`. */
	readonly ownId: string | undefined;
	/** As in `createOnce`; without a key it need not be safe to repeat. */
	readonly finish: (id: string, isDone: boolean) => Promise<() => R | Promise<R>>;
}

/** Creates a document or spreadsheet in a folder, from a template or with a key, which the Docs and Sheets APIs cannot do. */
export async function createInDrive<R extends object>(
	drive: drive_v3.Drive,
	file: NewFile<R>,
	item: Item,
): Promise<R & { readonly repeated?: true }> {
	const { kind, buildUrl, key, ownId, finish } = file;
	const describe = (id: string): CreatedFile => ({ kind, id, url: buildUrl(id) });
	const createFile = async (appProperties = {}) => {
		const id = ownId ?? (await createOrCopyFile(drive, file, { ...getItemProperty(item), ...appProperties }));
		item.recordCreated(describe(id));
		return { id };
	};
	if (!key) {
		const readResult = await finish((await createFile()).id, false);
		return await readResult();
	}
	return await createOnce(drive, 'id', {
		key,
		ownId,
		create: createFile,
		async finish({ id }, state) {
			// If no answer confirmed the file, it is known only from here on.
			if (!state.isDone) item.recordCreated(describe(id ?? ''));
			return await finish(id ?? '', state.isDone);
		},
	});
}

async function createOrCopyFile(
	drive: drive_v3.Drive,
	{ mimeType, title, parentFolder: folderId, templateId }: NewFile<unknown>,
	appProperties: Readonly<Record<string, string>>,
): Promise<string> {
	// Without a parent, a copy would go where the original is.
	const parents = folderId || templateId ? [folderId || 'root'] : undefined;
	const requestBody = { name: title, parents, appProperties };
	const request = { supportsAllDrives: true, fields: 'id' };
	const { data } = templateId
		? await drive.files.copy({ ...request, fileId: templateId, requestBody })
		: await drive.files.create({ ...request, requestBody: { ...requestBody, mimeType } });
	return data.id ?? '';
}

/** The ID of the file that `createInDrive` created for the item although no answer arrived. */
export async function findCreatedId(drive: drive_v3.Drive, item: Item): Promise<string | undefined> {
	return (await findFileOfItem(drive, item, 'id'))?.id ?? undefined;
}

/** Marks a file as the one that is created for an item. */
export const getItemProperty = ({ token }: Pick<Item, 'token'>) => ({ [tokenKey]: token });

/** The file with an item's mark, if Google lists it already. */
export async function findFileOfItem(drive: drive_v3.Drive, { token }: Pick<Item, 'token'>, fields: string) {
	const [file] = await findFiles(drive, buildPropertySearch(tokenKey, token), fields);
	return file;
}

/** The files in My Drive and all shared drives that the sign-in sees, without the trash. @param q in Drive's search language */
export async function findFiles(drive: drive_v3.Drive, q: string, fields: string, orderBy?: string) {
	const { data } = await drive.files.list({
		q: `${q} and trashed = false`,
		fields: `files(${fields})`,
		orderBy,
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data.files ?? [];
}

/** A text in Drive's search language. */
export const quoteSearchText = (text: string) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** A search for a private property whose value needs no quoting. */
const buildPropertySearch = (key: string, value: string) =>
	`appProperties has { key='${key}' and value='${value}' }`;

export const titleField = {
	displayName: 'Title',
	name: 'title',
	type: 'string',
	default: '',
	required: true,
} as const satisfies Field;

/** Where a new file goes: a folder or shared drive, otherwise My Drive. */
export const buildParentFolderField = (description: string) =>
	({
		displayName: 'Parent Folder',
		name: 'parentFolder',
		...buildFileLocator('folder', 'searchFolders'),
		description,
	}) as const satisfies Field;
