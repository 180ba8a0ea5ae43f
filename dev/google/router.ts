import { loadContracts, type Discovery, type Method } from './contract.ts';

/** The contract's entry for a request. */
export interface Route {
	/** Method ID, such as `drive.files.create`. */
	readonly id: string;
	readonly api: Discovery;
	readonly method: Method;
	/** Whether it used the upload path. */
	readonly upload: boolean;
	/** Path parameters, decoded. */
	readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
	readonly id: string;
	readonly api: Discovery;
	readonly method: Method;
	readonly upload: boolean;
	readonly expression: RegExp;
	readonly rank: number;
}

let knownPatterns: readonly Pattern[] | undefined;

/**
 * Finds the method that a request calls.
 * @param pathname still encoded, because an ID may contain an encoded slash or colon
 */
export function findRoute(httpMethod: string, pathname: string): Route | undefined {
	knownPatterns ??= loadContracts()
		.flatMap(buildPatterns)
		.sort((one, other) => other.rank - one.rank);
	for (const { expression, id, api, method, upload } of knownPatterns) {
		const groups =
			method.httpMethod === httpMethod ? expression.exec(pathname)?.groups : undefined;
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
		const plain = buildPattern(id, api, method, `/${api.servicePath}${method.path}`, false);
		const upload = method.mediaUpload?.protocols.simple.path;
		return upload === undefined
			? [plain]
			: [plain, buildPattern(id, api, method, upload, true)];
	});
}

function buildPattern(
	id: string,
	api: Discovery,
	method: Method,
	template: string,
	upload: boolean,
): Pattern {
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
	return { id, api, method, upload, expression, rank };
}
