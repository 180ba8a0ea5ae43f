import { Pace, paceSettings, type PaceSettings } from '../../http/rateLimiter';
import type { Api } from './baseUrls';

/** Quotas that Google counts separately: Gmail in units, Sheets and Docs by reads and writes. */
type Counter = 'mail' | 'drive' | `${'sheets' | 'docs'} ${'reads' | 'writes'}`;

/** Documented quotas per user and minute; projects may have more. */
const documented: Readonly<Record<Counter, number>> = {
	mail: 6000,
	drive: 12_000,
	'sheets reads': 60,
	'sheets writes': 60,
	'docs reads': 300,
	'docs writes': 60,
};

export interface Cost {
	readonly pace: Pace;
	readonly units: number;
}

/** The paces of all credentials of a process. */
export class Paces {
	readonly settings: PaceSettings;
	private readonly paces = new Map<string, Pace>();

	constructor(settings: PaceSettings = paceSettings) {
		this.settings = settings;
	}

	/** @param credentialKey identifies the credential */
	of(credentialKey: string, api: Api, method: string, url: string): Cost {
		const counter = counterOf(api, method);
		const key = `${counter} ${credentialKey}`;
		const pace = this.paces.get(key) ?? new Pace(documented[counter], this.settings);
		this.paces.set(key, pace);
		return { pace, units: api === 'mail' ? gmailUnits(new URL(url).pathname) : 1 };
	}
}

export const paces = new Paces();

function counterOf(api: Api, method: string): Counter {
	if (api === 'mail' || api === 'drive') return api;
	return `${api} ${method === 'GET' ? 'reads' : 'writes'}`;
}

/** https://developers.google.com/workspace/gmail/api/reference/quota */
function gmailUnits(pathname: string): number {
	if (pathname.endsWith('/messages/send')) return 100;
	if (pathname.includes('/messages/')) return 20;
	if (pathname.includes('/threads/')) return 40;
	return pathname.endsWith('/messages') ? 5 : 1;
}
