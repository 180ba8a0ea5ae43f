import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { Failure, isFailure } from '../../core/errors';
import { named } from '../../fields/naming';
import { usedBefore } from '../idempotency';

type File = drive_v3.Schema$File;

/** What a file carries in properties that are private to this app, so that its key creates it only once. */
export interface FileKey {
	/** Hash of the key, the operation and the folder. */
	readonly mark: string;
	/** Hash of what the file is created from. */
	readonly content: string;
}

export interface Steps<R> {
	readonly key: FileKey;
	/** ID of a file that this execution is known to have created although no answer confirmed it. */
	readonly ownId?: string;
	/**
	 * Creates the file with these private properties.
	 * @returns undefined if no file is to be created after all
	 */
	readonly make: (appProperties: Record<string, string>) => Promise<File | undefined>;
	/**
	 * Does what is still missing in an existing file. Must be safe to repeat, even in parallel executions.
	 */
	readonly complete: (file: File) => Promise<void>;
	/** The result for a complete file. @param isOwn this execution created it */
	readonly result: (file: File, isOwn: boolean) => Promise<R>;
}

const rankFields = 'createdTime,appProperties';
const markKey = 'idempotencyMark';
const contentKey = 'idempotencyContent';
const stateKey = 'idempotencyState';

/**
 * Creates a file once for a key, across executions. Drive cannot refuse a second one, so each execution looks
 * again after it created its own. All executions agree on the file that stays (a complete one, otherwise the
 * oldest) and move their own other files to the trash. No such file has been reported to anyone yet.
 * @param fields of the files that the steps receive
 * @returns undefined if there is no file and none was to be created
 */
export async function madeOnce<R extends object>(
	drive: drive_v3.Drive,
	fields: string,
	{ key, ownId, make, complete, result }: Steps<R>,
): Promise<(R & { readonly repeated?: true }) | undefined> {
	const known = await filesOf(drive, key, fields);
	const made =
		known.length > 0
			? undefined
			: await make({ [markKey]: key.mark, [contentKey]: key.content, [stateKey]: 'made' });
	if (known.length === 0 && !made) return undefined;
	const all = made ? await withOwn(drive, await filesOf(drive, key, fields), made, fields) : known;
	const [kept, ...others] = all.toSorted(byRank);
	if (!kept) throw putAway(made);
	await removeUnfinished(drive, others);
	if (kept.appProperties?.[contentKey] !== key.content) throw usedBefore(`the file ${kept.id ?? ''}`);
	if (!isDone(kept)) {
		await complete(kept);
		await update(drive, kept, { appProperties: { [stateKey]: 'done' } });
	}
	const isOwn = kept.id === (made?.id ?? ownId);
	const value = await result(kept, isOwn);
	return isOwn ? value : { ...value, repeated: true };
}

async function filesOf(drive: drive_v3.Drive, { mark }: FileKey, fields: string): Promise<File[]> {
	const { data } = await drive.files.list({
		q: `appProperties has { key='${markKey}' and value='${mark}' } and trashed = false`,
		fields: `files(${fields},${rankFields})`,
		corpora: 'allDrives',
		includeItemsFromAllDrives: true,
		supportsAllDrives: true,
	});
	return data.files ?? [];
}

/** The search may not list the new file yet, or no longer: another execution may have trashed it. */
async function withOwn(
	drive: drive_v3.Drive,
	found: readonly File[],
	made: File,
	fields: string,
): Promise<readonly File[]> {
	if (found.some(({ id }) => id === made.id)) return found;
	const request = {
		fileId: made.id ?? '',
		supportsAllDrives: true,
		fields: `${fields},${rankFields},trashed`,
	};
	const { data } = await drive.files.get(request);
	return data.trashed ? found : [...found, data];
}

function putAway(made: File | undefined): Failure {
	return new Failure({
		code: 503,
		message: `Another execution with the same ${named('idempotencyKey')} put the file ${made?.id ?? ''} into the trash`,
		description: 'Its own file cannot be found yet. Run this again.',
		settled: true,
	});
}

function isDone({ appProperties }: File): boolean {
	return appProperties?.[stateKey] === 'done';
}

/** An order on which all executions agree. */
function byRank(a: File, b: File): number {
	if (isDone(a) !== isDone(b)) return isDone(a) ? -1 : 1;
	const rank = (file: File) => `${file.createdTime ?? ''} ${file.id ?? ''}`;
	return rank(a) < rank(b) ? -1 : 1;
}

async function removeUnfinished(drive: drive_v3.Drive, files: readonly File[]): Promise<void> {
	for (const file of files) if (!isDone(file)) await update(drive, file, { trashed: true });
}

/** Safe to repeat: a second update changes nothing. */
async function update(drive: drive_v3.Drive, { id }: File, requestBody: File): Promise<void> {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	const repeatable = { retryConfig: { httpMethodsToRetry: ['PATCH'] } };
	await drive.files.update(request, repeatable).catch((error: unknown) => {
		// The other execution was faster.
		if (!(isFailure(error) && error.code === 404 && requestBody.trashed)) throw error;
	});
}
