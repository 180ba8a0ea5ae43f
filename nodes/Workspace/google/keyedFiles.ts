import type { drive_v3 } from 'googleapis/build/src/apis/drive/v3';

import { Failure, isFailure } from '../../items/failure';
import { named } from '../../parameters/naming';
import { usedBefore } from '../idempotency';

type File = drive_v3.Schema$File;

/** What a file carries, in properties that no other app sees, so that its key makes it once. */
export interface FileKey {
	/** Hash of the key, the operation and the folder. */
	readonly mark: string;
	/** Hash of what the file is made from. */
	readonly content: string;
}

export interface Steps<R> {
	readonly key: FileKey;
	/** A file that this execution is known to have made, though no answer said so. */
	readonly ownId?: string;
	/** Makes the file with these private properties. @returns undefined when it turns out that none is to be made */
	readonly make: (appProperties: Record<string, string>) => Promise<File | undefined>;
	/** What is still to do to a file that exists; must bear being done twice, also by another execution at the same time. */
	readonly complete: (file: File) => Promise<void>;
	/** The result of a file that is complete. @param isOwn this execution made it */
	readonly result: (file: File, isOwn: boolean) => Promise<R>;
}

const rankFields = 'createdTime,appProperties';
const markKey = 'idempotencyMark';
const contentKey = 'idempotencyContent';
const stateKey = 'idempotencyState';

/**
 * Makes a file once for a key, across executions. Drive cannot refuse a second one, so that each execution looks again after it made
 * its own: all of them agree on the file that stays (one that is complete, else the oldest), and put what they made themselves into
 * the trash. Nobody has been told of such a file yet.
 * @param fields of the files that the steps are given
 * @returns undefined when there is none and none was to be made
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

/** The search may not know the new file yet, or no more: another execution may have put it away. */
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

/** The same order for everybody who looks. */
function byRank(a: File, b: File): number {
	if (isDone(a) !== isDone(b)) return isDone(a) ? -1 : 1;
	const rank = (file: File) => `${file.createdTime ?? ''} ${file.id ?? ''}`;
	return rank(a) < rank(b) ? -1 : 1;
}

async function removeUnfinished(drive: drive_v3.Drive, files: readonly File[]): Promise<void> {
	for (const file of files) if (!isDone(file)) await update(drive, file, { trashed: true });
}

/** Doing it twice changes nothing. */
async function update(drive: drive_v3.Drive, { id }: File, requestBody: File): Promise<void> {
	const request = { fileId: id ?? '', requestBody, supportsAllDrives: true, fields: 'id' };
	const repeatable = { retryConfig: { httpMethodsToRetry: ['PATCH'] } };
	await drive.files.update(request, repeatable).catch((error: unknown) => {
		// The other execution was faster.
		if (!(isFailure(error) && error.code === 404 && requestBody.trashed)) throw error;
	});
}
