import type { GoogleAccount } from '../googleAccount.ts';
import type { Made } from '../steps.ts';
import { askFor, at, isRefused, ok, type Question } from './reading.ts';

export async function documentFacts(
	account: GoogleAccount,
	prefix: string,
	made: Made[],
): Promise<Question[]> {
	const ask = (method: string, path: string, body?: unknown) =>
		account.ask(method, 'docsApiBase', path, body);
	const created = ok(await ask('POST', '', { title: `${prefix} facts` }), 'creating a document');
	const id = String(at(created, 'documentId'));
	const address = `https://docs.google.com/document/d/${id}`;
	made.push({ what: 'a document for facts', address });
	const batch = (request: object, more: object = {}) =>
		ask('POST', `/${id}:batchUpdate`, { requests: [request], ...more });
	const text = async () =>
		JSON.stringify(at(ok(await ask('GET', `/${id}`), 'reading'), 'body.content'));
	const insert = (inserted: string) => ({
		insertText: { text: inserted, location: { index: 1 } },
	});
	return [
		{
			claim: 'Control characters and characters of private use are left out of inserted text.',
			async ask() {
				ok(await batch(insert('a\u0001b\u000cc\ue000d')), 'inserting');
				const isClean = (await text()).includes('"abcd\\n"');
				return {
					seen: `They were ${isClean ? '' : 'not '}left out.`,
					isAsClaimed: isClean,
				};
			},
		},
		askFor(
			'The last newline of a document cannot be deleted (400).',
			async () => {
				const body = ok(await ask('GET', `/${id}`), 'reading');
				const end = Number(at(body, 'body.content.1.endIndex'));
				const range = { startIndex: end - 1, endIndex: end };
				return await batch({ deleteContentRange: { range } });
			},
			isRefused,
		),
		askFor(
			'A write that requires an old revision is refused with 400.',
			async () => {
				const old = at(ok(await ask('GET', `/${id}`), 'reading'), 'revisionId');
				ok(await batch(insert('new ')), 'inserting');
				const writeControl = { requiredRevisionId: old };
				return await batch(insert('lost '), { writeControl });
			},
			isRefused,
		),
	];
}
