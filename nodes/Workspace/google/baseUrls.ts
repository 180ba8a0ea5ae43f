import { refusal } from '../../core/errors';

/** The base address of each API. A base comes from the credential and may contain a path prefix. */
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

/** The service path that appears in upload addresses. Sheets and Docs have no uploads. */
const servicePaths: Partial<Bases> = { mail: '/gmail/v1', drive: '/drive/v3' };

const fieldNames: Bases = {
	mail: 'Mail API Base',
	sheets: 'Sheets API Base',
	docs: 'Docs API Base',
	drive: 'Drive API Base',
};

const apis = Object.keys(googleBases) as Api[];

/** Base addresses from a credential's decrypted data. An empty or hidden field means Google's own address. */
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

interface Target {
	readonly url: string;
	readonly api: Api;
}

/**
 * The address that a call of a generated client actually goes to: Google's prefix, or its upload form, is
 * replaced by the base.
 * @throws NodeError 400 for an address outside all bases, because the request would carry the token there
 */
export function targetOf(url: string, bases: Bases): Target {
	for (const api of apis) {
		const plain = afterPrefix(url, googleBases[api]);
		if (plain !== undefined) return { url: bases[api] + plain, api };
		const upload = afterPrefix(url, uploadBase(googleBases[api], api));
		if (upload !== undefined) return { url: uploadBase(bases[api], api) + upload, api };
	}
	// Drive itself gives out the address of a resumable upload, so it is used unchanged.
	const api = apis.find((name) => new URL(bases[name]).origin === new URL(url).origin);
	if (api) return { url, api };
	throw refusal('A request to a URL outside the API bases of the credential was blocked');
}

/** `/upload` goes before the service's own path if the base ends with it, otherwise right after the host. */
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
