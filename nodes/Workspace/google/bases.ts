import { refusal } from '../../items/failure';

/** Where each API is reached; a base may carry a path prefix and belongs to the credential. */
export interface Bases {
	readonly mail: string;
	readonly sheets: string;
	readonly docs: string;
	readonly drive: string;
}

export type Api = keyof Bases;

export const googleBases: Bases = {
	mail: 'https://gmail.googleapis.com/gmail/v1',
	sheets: 'https://sheets.googleapis.com/v4/spreadsheets',
	docs: 'https://docs.googleapis.com/v1/documents',
	drive: 'https://www.googleapis.com/drive/v3',
};

/** What a service's uploads are called after; Sheets and Docs have none. */
const servicePaths: Partial<Bases> = { mail: '/gmail/v1', drive: '/drive/v3' };

const fieldNames: Bases = {
	mail: 'Mail API Base',
	sheets: 'Sheets API Base',
	docs: 'Docs API Base',
	drive: 'Drive API Base',
};

const apis = Object.keys(googleBases) as Api[];

/** Base addresses of a credential's decrypted data; empty or hidden means Google's. */
export function basesOf(credential: Readonly<Record<string, unknown>>): Bases {
	const given = (name: string, api: Api) => {
		const value = credential[name];
		return typeof value === 'string' && value.trim() !== ''
			? checkedBase(value.trim(), api)
			: googleBases[api];
	};
	return {
		mail: given('mailApiBase', 'mail'),
		sheets: given('sheetsApiBase', 'sheets'),
		docs: given('docsApiBase', 'docs'),
		drive: given('driveApiBase', 'drive'),
	};
}

function checkedBase(text: string, api: Api): string {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const usable =
		url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password;
	if (usable) return text.replace(/\/+$/, '');
	throw refusal(
		`'${fieldNames[api]}' in the credential is not a valid API URL`,
		`Enter a URL such as ${googleBases[api]}, without a query, or leave it empty to use Google's.`,
	);
}

export interface Target {
	readonly url: string;
	readonly api: Api;
}

/**
 * The address that a call of a generated client really goes to: Google's own prefix, or its upload form, replaced by the
 * base.
 * @throws Failure 400 for an address that belongs to none of the bases, because the request would carry the token there
 */
export function targetOf(url: string, bases: Bases): Target {
	for (const api of apis) {
		const plain = afterPrefix(url, googleBases[api]);
		if (plain !== undefined) return { url: bases[api] + plain, api };
		const upload = afterPrefix(url, uploadBase(googleBases[api], api));
		if (upload !== undefined) return { url: uploadBase(bases[api], api) + upload, api };
	}
	// The address of a resumable upload comes from Drive itself and stands as it is.
	const api = apis.find((name) => new URL(bases[name]).origin === new URL(url).origin);
	if (api) return { url, api };
	throw refusal('A request to a URL outside the API bases of the credential was blocked');
}

/** `/upload` stands before the service's own path where the base ends with it, else after the host. */
export function uploadBase(base: string, api: Api): string {
	const path = servicePaths[api];
	if (path !== undefined && base.endsWith(path)) return `${base.slice(0, -path.length)}/upload${path}`;
	const { origin } = new URL(base);
	return `${origin}/upload${base.slice(origin.length)}`;
}

function afterPrefix(url: string, prefix: string): string | undefined {
	if (!url.startsWith(prefix)) return undefined;
	const rest = url.slice(prefix.length);
	return rest === '' || /^[/:?]/.test(rest) ? rest : undefined;
}
