import type { GoogleAccount } from '../googleAccount.ts';
import type { Made } from '../steps.ts';
import { at, ok, refusal, tell, type Question } from './reading.ts';

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
		const address = `https://mail.google.com/mail/u/0/#all/${id}`;
		made.push({ what: 'an email for facts', address });
		const mail = ok(await ask('GET', `/messages/${id}?format=metadata`), 'reading');
		const headers = at(mail, 'payload.headers') ?? [];
		const all = headers as Array<{ name?: string; value?: string }>;
		return (name: string) => all.find((header) => header.name?.toLowerCase() === name)?.value;
	};
	const own = '<live-test@example.com>';
	const header = await send(own);
	return [
		tell(
			'Without a From header, Gmail sends from the bare address, without a name.',
			[to, `<${to}>`].includes(header('from') ?? ''),
			['The sender is the bare address.', 'The sender has a name.'],
		),
		tell(
			'Gmail replaces the Message-ID of an email that it sends.',
			header('message-id') !== own,
			['It was replaced.', 'It was kept.'],
		),
		tell(
			'Gmail keeps a header that it does not know, as X-Agent-Workspace-Id.',
			header('x-live-test') === 'kept',
			['It was kept.', 'It was dropped.'],
		),
		{
			claim: 'An email that does not exist is 404 with the reason notFound.',
			async ask() {
				const answer = await ask('GET', '/messages/0123456789abcdef');
				const reason = at(answer.body, 'error.errors.0.reason');
				const isAsClaimed = answer.status === 404 && reason === 'notFound';
				const seen = `Google answered ${refusal(answer)}, reason ${String(reason)}.`;
				return { seen, isAsClaimed };
			},
		},
		{
			claim: 'Does after: with a date begin at midnight in UTC?',
			async ask() {
				const count = async (query: string) => {
					const answer = await ask('GET', `/messages?q=${encodeURIComponent(query)}`);
					return Number(at(ok(answer, 'searching'), 'resultSizeEstimate') ?? 0);
				};
				const today = new Date().toISOString().slice(0, 10);
				const midnight = Date.parse(today) / 1000;
				const byDate = await count(`after:${today.replaceAll('-', '/')}`);
				const bySecond = await count(`after:${midnight}`);
				const seen = `Google estimates ${byDate} emails since the date and ${bySecond} since midnight in UTC.`;
				return { seen, isAsClaimed: undefined };
			},
		},
	];
}
