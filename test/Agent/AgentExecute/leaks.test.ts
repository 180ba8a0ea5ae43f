import { inspect } from 'node:util';

import {
	type AgentService,
	type ExecuteStep,
	startAgentService,
} from '../../../dev/agent-service/server.ts';
import { failureOf } from '../../createExecuteContext';
import { forms, formsIn, inAllForms } from '../../forms';
import { apiKey, goOn, runExecute, signer } from './executeRun';

let service: AgentService;
afterEach(() => service.close());

const own = {
	signature: '0xitem-canary-signature',
	userPublicKey: '0xitem-canary-public-key',
	userId: '0xb2',
	timestamp: 1_795_253_731_904,
};

type Case = (secrets: readonly string[]) => ExecuteStep;

const everything = (secrets: readonly string[]) => secrets.map(inAllForms).join('\n');
const pageOf = (all: readonly string[]) => `<p title="${everything(all)}">${everything(all)}</p>`;
const placeOf = (all: readonly string[]) => `https://x.example/${all.join('/')}?k=${all.join()}`;
const cases: Array<[string, Case]> = [
	...Object.entries(forms).flatMap(([name, form]): Array<[string, Case]> => [
		[
			`${name} in the text of an error`,
			(all) => ({ status: 422, body: `no: ${all.map(form).join(' ')}` }),
		],
		[
			`${name} in the JSON of an error`,
			(all) => ({ status: 500, body: { error: { message: all.map(form).join(' ') } } }),
		],
	]),
	['a page', (all) => ({ status: 403, contentType: 'text/html', body: pageOf(all) })],
	['a redirect', (all) => ({ status: 307, headers: { location: placeOf(all) } })],
	[
		'a redirect to a secret',
		([key = '']) => ({ status: 302, headers: { location: `//${key}.example/${key}` } }),
	],
	['a long wait', (all) => ({ status: 429, retryAfter: 9999, body: everything(all) })],
	['an answer that breaks off', (all) => ({ fault: 'cutBody', body: everything(all) })],
];

describe.each([
	['of the credential', {}, [apiKey, signer.signature, signer.userPublicKey]],
	['of the item', own, [apiKey, own.signature, own.userPublicKey]],
])('a service that repeats the secrets %s', (_whose, options, secrets) => {
	test.each(cases)(
		'as %s: neither the error nor the item has them, nor a line of its own',
		async (_, step) => {
			service = await startAgentService({ apiKey, execute: () => step(secrets) });
			const timeLimits = { limits: { maxRetryWaitSeconds: 0 } };
			const parameters = { options: { ...options, timeLimits } };
			const error = await failureOf(runExecute(service, { parameters }));
			const items = await runExecute(service, { parameters, node: goOn });
			// What the user typed into the node is there to be seen.
			const kept = Object.entries(error).filter(([key]) => key !== 'node');
			const texts = [error.message, error.description, error.stack, JSON.stringify(items)];
			const text = [...texts, inspect(kept, { depth: null })].join(' ');
			for (const secret of secrets) expect(formsIn(text, secret)).toEqual([]);
			expect(error.message).not.toMatch(/\p{Cc}/u);
		},
	);
});

test('an answer that repeats the key and the signature is shown without them, the public key may be its content', async () => {
	const answer = { text: 'Done.', ...signer, apiKey };
	service = await startAgentService({ apiKey, answer: () => answer });
	const [item] = await runExecute(service);
	expect(item?.json.response).toEqual({ ...answer, signature: '•••', apiKey: '•••' });
});
