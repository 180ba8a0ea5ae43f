import type { StoredFile } from '../files.ts';
import { ApiError, type Call } from '../service.ts';
import { supportsAllDrives, type Library } from './library.ts';
import { parseQuery } from './query.ts';
import { rootId } from './resource.ts';

export interface Page<T> {
	readonly entries: readonly T[];
	readonly nextPageToken: string | undefined;
}

/** Returns the page of files that a `files.list` call asks for. */
export function listFiles(library: Library, call: Call): Page<StoredFile> {
	const inScope = selectCorpus(call);
	const q = String(call.params['q'] ?? '').replaceAll(`'${rootId}'`, "'root'");
	const matches = parseQuery(q);
	const { files } = library;
	const matchingFiles = files
		.listAll()
		.filter((file) => files.isVisibleTo(call, file) && inScope(file))
		.filter((file) => matches({ ...file, trashed: files.isTrashed(file) }));
	return cutPage(sortFiles(matchingFiles, String(call.params['orderBy'] ?? '')), call, 100, 1000);
}

/** Returns one page. A page token is valid only for the same query as the request that returned it. */
export function cutPage<T>(
	entries: readonly T[],
	call: Call,
	defaultSize: number,
	maxSize: number,
): Page<T> {
	const { q, pageToken, pageSize, orderBy } = call.params;
	const question = JSON.stringify([call.method, q ?? '', orderBy ?? '']);
	const size = Number(pageSize ?? defaultSize);
	if (!Number.isInteger(size) || size < 1 || size > maxSize)
		throw createInvalidValueError('pageSize');
	const start = pageToken === undefined ? 0 : readOffset(String(pageToken), question);
	const until = start + size;
	const token = Buffer.from(JSON.stringify([question, until])).toString('base64url');
	const nextPageToken = until < entries.length ? token : undefined;
	return { entries: entries.slice(start, until), nextPageToken };
}

function readOffset(token: string, question: string): number {
	try {
		const text = Buffer.from(token, 'base64url').toString();
		const [tokenQuestion, offset] = JSON.parse(text) as [string, number];
		if (tokenQuestion === question) return offset;
	} catch {
		// A made-up token is not JSON. It is as invalid as the token of another request.
	}
	throw createInvalidValueError('pageToken');
}

/** Selects the drives to search. */
function selectCorpus(call: Call): (file: StoredFile) => boolean {
	const { corpora = 'user', driveId } = call.params;
	const withDrives =
		supportsAllDrives(call) && call.params['includeItemsFromAllDrives'] === 'true';
	if (corpora === 'drive') {
		if (driveId === undefined || !withDrives) throw createInvalidValueError('driveId');
		return (file) => file.driveId === driveId;
	}
	if (driveId !== undefined) throw createInvalidValueError('driveId');
	if (corpora === 'allDrives' && !withDrives) throw createInvalidValueError('corpora');
	return (file) => file.driveId === undefined || withDrives;
}

const compareTimes = ({ createdTime: a }: StoredFile, { createdTime: b }: StoredFile) =>
	a < b ? -1 : Number(a > b);

/** The keys that clients use. A stored file has no other time than that of its creation. */
const sortKeys: Readonly<Record<string, typeof compareTimes>> = {
	name_natural: (a, b) =>
		a.name.localeCompare(b.name, 'en', { numeric: true, sensitivity: 'base' }),
	createdTime: compareTimes,
	viewedByMeTime: compareTimes,
};

function sortFiles(files: StoredFile[], orderBy: string): StoredFile[] {
	const comparisons = orderBy
		.split(',')
		.filter(Boolean)
		.map((key) => {
			const [name = '', direction] = key.trim().split(' ');
			const by = sortKeys[name];
			if (by === undefined || (direction !== undefined && direction !== 'desc'))
				throw createInvalidValueError('orderBy');
			return direction === 'desc' ? (a: StoredFile, b: StoredFile) => -by(a, b) : by;
		});
	return files.sort(
		(a, b) => comparisons.map((by) => by(a, b)).find((order) => order !== 0) ?? 0,
	);
}

function createInvalidValueError(parameter: string): ApiError {
	return new ApiError(400, `Invalid Value for ${parameter}`, { reason: 'invalid' });
}
