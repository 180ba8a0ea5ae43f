import { loadContracts, type Discovery, type Method } from './contract.ts';

interface Entry {
	/** Method ID, such as `drive.files.create`. */
	readonly id: string;
	readonly api: Discovery;
	readonly method: Method;
	/** Whether it is that of the upload path. */
	readonly upload: boolean;
}

/** The contract's entry for a request. */
export interface Route extends Entry {
	/** Path parameters, decoded. */
	readonly params: Readonly<Record<string, string>>;
}

interface Pattern extends Entry {
	readonly expression: RegExp;
	readonly rank: number;
}

let knownPatterns: readonly Pattern[] | undefined;

/**
 * Finds the method that a request calls.
 * @param pathname still encoded, because an ID may contain an encoded slash or colon
 */
function findRoute(httpMethod: string, pathname: string): Route | undefined {
	knownPatterns ??= loadContracts()
		.flatMap(buildPatterns)
		.sort((one, other) => other.rank - one.rank);
	for (const { expression, id, api, method, upload } of knownPatterns) {
		if (method.httpMethod !== httpMethod) continue;
		const groups = expression.exec(pathname)?.groups;
		if (!groups) continue;
		const params = Object.entries(groups)
			.filter(([name]) => name !== '_')
			.map(([name, value]) => [name, decodeURIComponent(value)] as const);
		return { id, api, method, upload, params: Object.fromEntries<string>(params) };
	}
	return undefined;
}

/** Finds the route of a request. A session is addressed with PUT, whichever method started it. */
export function resolveRoute(
	httpMethod: string,
	path: string,
	inSession: boolean,
): Route | undefined {
	if (!inSession || httpMethod !== 'PUT') return findRoute(httpMethod, path);
	return findRoute('POST', path) ?? findRoute('PATCH', path);
}

function buildPatterns(api: Discovery): Pattern[] {
	return Object.entries(api.methods).flatMap(([id, method]) => {
		const entry = { id, api, method };
		const path = `/${api.servicePath}${method.path}`;
		const plain = buildPattern({ ...entry, upload: false }, path);
		const uploadPath = method.mediaUpload?.protocols.simple.path;
		if (uploadPath === undefined) return [plain];
		return [plain, buildPattern({ ...entry, upload: true }, uploadPath)];
	});
}

function buildPattern(entry: Entry, template: string): Pattern {
	const source = template
		.split(/(\{\w+\})/)
		.map((piece) =>
			/^\{\w+\}$/.test(piece)
				? `(?<${piece.slice(1, -1)}>[^/]*)`
				: piece.replaceAll(/[.:]/g, '\\$&'),
		);
	// Paths with more fixed text come first: `values/{range}:append` before `values/{range}`, `generateIds`
	// before `{fileId}`.
	const rank = template.replaceAll(/\{\w+\}/g, '').length;
	// A method without path parameters still has to produce `groups`.
	const expression = new RegExp(`^(?<_>)${source.join('')}$`);
	return { ...entry, expression, rank };
}
