import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The facts in `test/contract`, described in its README. */
export interface Discovery {
	readonly name: string;
	readonly servicePath: string;
	readonly commonParameters: Readonly<Record<string, Parameter>>;
	readonly methods: Readonly<Record<string, Method>>;
	readonly schemas: Readonly<Record<string, DiscoverySchema>>;
}

export interface Parameter {
	readonly type: string;
	readonly location: 'path' | 'query';
	readonly format?: string;
	readonly enum?: readonly string[];
	readonly repeated?: boolean;
}

export interface Method {
	readonly httpMethod: string;
	/** Relative to `servicePath`, as a URI template. */
	readonly path: string;
	readonly parameters?: Readonly<Record<string, Parameter>>;
	readonly request?: { readonly $ref: string };
	readonly response?: { readonly $ref: string };
	readonly scopes: readonly string[];
	readonly mediaUpload?: {
		/** Bytes. */
		readonly maxSize?: string;
		readonly protocols: { readonly simple: { readonly path: string } };
	};
}

export interface DiscoverySchema {
	readonly $ref?: string;
	readonly type?: string;
	readonly format?: string;
	readonly enum?: readonly string[];
	readonly properties?: Readonly<Record<string, DiscoverySchema>>;
	readonly items?: DiscoverySchema;
	readonly additionalProperties?: DiscoverySchema;
}

const folder = path.join(import.meta.dirname, '..', '..', 'test', 'contract');

let loaded: readonly Discovery[] | undefined;

/** Loads the contracts of the four APIs. */
export function loadContracts(): readonly Discovery[] {
	loaded ??= ['gmail.v1', 'sheets.v4', 'docs.v1', 'drive.v3'].map(
		(name) => JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as Discovery,
	);
	return loaded;
}
