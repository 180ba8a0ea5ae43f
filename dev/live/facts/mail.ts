import type { GoogleAccount } from '../googleAccount.ts';
import type { Made } from '../steps.ts';
import { at, ok, refusal, type Question } from './reading.ts';

export async function mailFacts(
	account: GoogleAccount,
	prefix: string,
	made: Made[],
): Promise<Question[]> {
	const ask = (method: string, path: string, body?: unknown) =>
		account.ask(method, 'mailApiBase', `/users/me${path}`, body);
	const to = await account.emailAddress();
	const send = async (messageId: string) => {
		const lines = [
			`To: ${to}`,
			`Subject: ${prefix} facts`,
			`Message-ID: ${messageId}`,
			'X-Live-Test: kept',
			'',
			'Text',
		];
		const raw = Buffer.from(lines.join('\r\n')).toString('base64url');
		const id = String(at(ok(await ask('POST', '/messages/send', { raw }), 'sending'), 'id'));
		made.push({
			what: 'an email for facts',
			address: `https://mail.google.com/mail/u/0/#all/${id}`,
		});
		const headers = at(
			ok(await ask('GET', `/messages/${id}?format=metadata`), 'reading'),
			'payload.headers',
		);
		const all = Array.isArray(headers)
			? (headers as Array<{ name?: string; value?: string }>)
			: [];
		return (name: string) => all.find((header) => header.name?.toLowerCase() === name)?.value;
	};
	const own = '<live-test@example.com>';
	const header = await send(own);
	return [
		{
			claim: 'Without a From header, Gmail sends from the bare address, without a name.',
			ask() {
				const from = header('from') ?? '';
				const isBare = from === to || from === `<${to}>`;
				return Promise.resolve({
					seen: isBare ? 'The sender is the bare address.' : 'The sender has a name.',
					isAsClaimed: isBare,
				});
			},
		},
		{
			claim: 'Gmail replaces the Message-ID of an email that it sends.',
			ask() {
				const isReplaced = header('message-id') !== own;
				return Promise.resolve({
					seen: `It was ${isReplaced ? 'replaced' : 'kept'}.`,
					isAsClaimed: isReplaced,
				});
			},
		},
		{
			claim: 'Gmail keeps a header that it does not know, as X-Agent-Workspace-Id.',
			ask() {
				const isKept = header('x-live-test') === 'kept';
				return Promise.resolve({
					seen: `It was ${isKept ? 'kept' : 'dropped'}.`,
					isAsClaimed: isKept,
				});
			},
		},
		{
			claim: 'An email that does not exist is 404 with the reason notFound.',
			async ask() {
				const answer = await ask('GET', '/messages/0123456789abcdef');
				const reason = at(answer.body, 'error.errors.0.reason');
				const isAsClaimed = answer.status === 404 && reason === 'notFound';
				return {
					seen: `Google answered ${refusal(answer)}, reason ${String(reason)}.`,
					isAsClaimed,
				};
			},
		},
		{
			claim: 'Does after: with a date begin at midnight in UTC?',
			async ask() {
				const count = async (query: string) => {
					const body = ok(
						await ask('GET', `/messages?q=${encodeURIComponent(query)}`),
						'searching',
					);
					return Number(at(body, 'resultSizeEstimate') ?? 0);
				};
				const today = new Date().toISOString().slice(0, 10);
				const midnight = Date.parse(today) / 1000;
				const byDate = await count(`after:${today.replaceAll('-', '/')}`);
				const bySecond = await count(`after:${midnight}`);
				return {
					seen: `Google estimates ${byDate} emails since the date and ${bySecond} since midnight in UTC.`,
					isAsClaimed: undefined,
				};
			},
		},
	];
}
