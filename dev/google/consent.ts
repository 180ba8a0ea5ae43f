import type { Emulator } from 'emulate';

import type { Reply } from './service.ts';
import type { Grant } from './tokens.ts';

/**
 * The consent page and its codes, from `emulate`. Its tokens are not used, because it accepts any token and
 * knows neither expiry nor scopes. Started at the first sign-in, because it takes longer to load than
 * everything else.
 */
export class Consent {
	private readonly users: readonly string[];
	private emulator: Promise<Emulator> | undefined;

	constructor(users: readonly string[]) {
		this.users = users;
	}

	/**
	 * A page of the sign-in. Its form leads back to `/o/oauth2/v2/auth/callback`, which redirects with a
	 * code.
	 */
	async page(method: string, path: string, body: string): Promise<Reply> {
		const answer = await this.ask(path, method === 'POST' ? formOf(body) : {});
		const location = answer.headers.get('location');
		return {
			status: answer.status,
			headers: {
				'Content-Type': answer.headers.get('content-type') ?? 'text/html; charset=UTF-8',
				...(location !== null && { Location: location }),
			},
			body: Buffer.from(await answer.arrayBuffer()),
		};
	}

	/** Who signed in, to which client and with which scopes; undefined for an invalid code. */
	async exchange(form: URLSearchParams): Promise<Grant | undefined> {
		const answer = await this.ask('/oauth2/token', formOf(form.toString()));
		if (!answer.ok) return undefined;
		const { id_token: idToken, scope } = (await answer.json()) as { id_token: string; scope: string };
		const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
			email: string;
		};
		return { user: claims.email, clientId: form.get('client_id') ?? '', scopes: scope.split(' ') };
	}

	async close(): Promise<void> {
		await (await this.emulator)?.close();
	}

	private async ask(path: string, init: RequestInit): Promise<Response> {
		this.emulator ??= start(this.users);
		const { url } = await this.emulator;
		return await fetch(url + path, { ...init, redirect: 'manual' });
	}
}

async function start(users: readonly string[]): Promise<Emulator> {
	// Imported by file, because the package's `exports` exclude CommonJS, which is how jest resolves it.
	const { createEmulator } = await import('../../node_modules/emulate/dist/api.js');
	const seed = { google: { users: users.map((email) => ({ email, name: email })) } };
	return await createEmulator({ service: 'google', port: 0, seed });
}

function formOf(body: string): RequestInit {
	return { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body };
}
