import { randomBytes } from 'node:crypto';

import type { Reply } from './service.ts';
import type { Grant } from './tokens.ts';

interface Allowed extends Grant {
	readonly redirectUri: string;
}

/** Query parameters that the page requires and that its form passes on. https://developers.google.com/identity/protocols/oauth2/web-server */
const required = ['client_id', 'redirect_uri', 'response_type', 'scope'] as const;

/** Google's consent page, where a person chooses an account, and the codes that it issues. */
export class Consent {
	private readonly users: readonly string[];
	private readonly codes = new Map<string, Allowed>();

	constructor(users: readonly string[]) {
		this.users = users;
	}

	/** Builds the page with a button for each account. */
	buildPage(address: URL): Reply {
		const missingName = required.find((name) => !address.searchParams.get(name));
		if (missingName !== undefined)
			return buildRefusal(`Required parameter is missing: ${missingName}`);
		const hidden = [...address.searchParams].map(
			([name, value]) =>
				`<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
		);
		const buttons = this.users.map(
			(user) => `<p><button name="email" value="${user}">${user}</button></p>`,
		);
		return buildHtml(
			200,
			`<h1>Choose an account</h1><form method="post" action="${address.pathname}/callback">
${[...hidden, ...buttons].join('\n')}
</form>`,
		);
	}

	/** Handles the page's form: redirects to the client with a code. */
	allow(form: URLSearchParams): Reply {
		const user = form.get('email') ?? '';
		if (!this.users.includes(user)) return buildRefusal(`There is no account ${user}`);
		const code = `4/${randomBytes(24).toString('base64url')}`;
		const redirectUri = form.get('redirect_uri') ?? '';
		const scopes = (form.get('scope') ?? '').split(' ');
		this.codes.set(code, { user, clientId: form.get('client_id') ?? '', scopes, redirectUri });
		const back = new URL(redirectUri);
		const state = form.get('state');
		if (state !== null) back.searchParams.set('state', state);
		back.searchParams.set('code', code);
		return { status: 302, headers: { Location: back.href } };
	}

	/** Returns who allowed what to which client; undefined for a code that is unknown, used, or another client's. */
	exchange(form: URLSearchParams, clientId: string | null): Grant | undefined {
		const code = form.get('code') ?? '';
		const allowed = this.codes.get(code);
		this.codes.delete(code);
		const isTheirs =
			allowed?.clientId === clientId && allowed.redirectUri === form.get('redirect_uri');
		return isTheirs ? allowed : undefined;
	}
}

function buildRefusal(text: string): Reply {
	return buildHtml(400, `<h1>Access blocked: Authorization Error</h1><p>${escapeHtml(text)}</p>`);
}

function buildHtml(status: number, body: string): Reply {
	const head =
		'<!DOCTYPE html><meta charset="utf-8"><title>Sign in</title><link rel="icon" href="data:,">';
	return {
		status,
		headers: { 'Content-Type': 'text/html; charset=UTF-8' },
		body: Buffer.from(`${head}\n${body}\n`),
	};
}

function escapeHtml(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
