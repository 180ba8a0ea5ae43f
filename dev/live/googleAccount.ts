import { MessageOnlyError } from '../n8n/command.ts';
import type { LiveSettings } from './settings.ts';

const google = {
	mailApiBase: 'https://gmail.googleapis.com/gmail/v1',
	sheetsApiBase: 'https://sheets.googleapis.com/v4/spreadsheets',
	docsApiBase: 'https://docs.googleapis.com/v1/documents',
	driveApiBase: 'https://www.googleapis.com/drive/v3',
	tokenUrl: 'https://oauth2.googleapis.com/token',
};
type Base = keyof typeof google;

export interface Answer {
	readonly status: number;
	/** Parsed if it is JSON, otherwise the text. */
	readonly body: unknown;
}

/** Requests to Google without our node, to see what Google itself does. */
export class GoogleAccount {
	readonly accessToken: string;
	readonly #bases: typeof google;

	/** @throws MessageOnlyError if Google refuses the refresh token */
	static async signIn(
		fields: NonNullable<LiveSettings['workspaceOAuth2Api']>,
	): Promise<GoogleAccount> {
		const given = Object.entries(fields).filter(
			([name, value]) => name in google && typeof value === 'string',
		);
		const bases = { ...google, ...Object.fromEntries(given) };
		const answer = await fetch(bases.tokenUrl, {
			method: 'POST',
			body: new URLSearchParams({
				grant_type: 'refresh_token',
				refresh_token: fields.refreshToken,
				client_id: fields.clientId,
				client_secret: fields.clientSecret,
			}),
		});
		const { access_token: token, error } = (await answer.json()) as Record<string, unknown>;
		if (typeof token !== 'string') {
			throw new MessageOnlyError(
				`Google refused the refresh token (${answer.status} ${String(error)}).`,
			);
		}
		return new GoogleAccount(token, bases);
	}

	private constructor(accessToken: string, bases: typeof google) {
		this.accessToken = accessToken;
		this.#bases = bases;
	}

	async ask(method: string, base: Base, path: string, body?: unknown): Promise<Answer> {
		return await this.#fetch(method, `${this.#bases[base]}${path}`, {
			body: body === undefined ? undefined : JSON.stringify(body),
			headers: { 'content-type': 'application/json' },
		});
	}

	/** Uploads content in one request, without a name of its own in Drive's metadata. */
	async upload(metadata: object, mediaType: string, content: string): Promise<Answer> {
		const { origin, pathname } = new URL(this.#bases.driveApiBase);
		const uploadPath = '/upload/drive/v3/files?uploadType=multipart';
		const path = pathname.replace(/\/drive\/v3$/, uploadPath);
		const part = (type: string, text: string) =>
			`--part\r\ncontent-type: ${type}\r\n\r\n${text}\r\n`;
		return await this.#fetch('POST', `${origin}${path}`, {
			body: `${part('application/json', JSON.stringify(metadata))}${part(mediaType, content)}--part--`,
			headers: { 'content-type': 'multipart/related; boundary=part' },
		});
	}

	async emailAddress(): Promise<string> {
		const { body } = await this.ask('GET', 'mailApiBase', '/users/me/profile');
		const { emailAddress } = (typeof body === 'object' ? body : {}) as Record<string, unknown>;
		return typeof emailAddress === 'string' ? emailAddress : 'me';
	}

	async #fetch(
		method: string,
		address: string,
		{ body, headers }: { body?: string; headers: Record<string, string> },
	): Promise<Answer> {
		const answer = await fetch(address, {
			method,
			headers: { ...headers, authorization: `Bearer ${this.accessToken}` },
			body,
			signal: AbortSignal.timeout(60_000),
		});
		const text = await answer.text();
		const isJson = answer.headers.get('content-type')?.includes('json') === true;
		return { status: answer.status, body: isJson ? JSON.parse(text) : text };
	}
}
