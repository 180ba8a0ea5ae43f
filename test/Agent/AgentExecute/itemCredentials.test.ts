import type { IDataObject } from 'n8n-workflow';

import type { AgentService } from '../../../dev/agent-service/server.ts';
import { formsIn } from '../../forms';
import {
	apiKey,
	bodiesOf,
	goOn,
	numbered,
	oneAtATime,
	runExecute,
	type RunOptions,
	serveEach,
} from './executeRun';

let service: AgentService;
const serve = serveEach((started) => (service = started));

const users = ['0xcanary-a1', '0xcanary-b2', '0xcanary-c3'];
const items = users.map((user) => ({ json: { user } }));
const signer = {
	userId: '={{ $json.user }}',
	userPublicKey: '={{ $json.user }}-key',
	signature: '={{ $json.user }}-signature',
};
const run = (parameters: IDataObject, options: RunOptions = {}) =>
	runExecute(service, { signer, items, parameters, ...options });

test('a credential with expressions gives each item its own user, in the call and on the channel', async () => {
	await serve({ messages: () => ['hello'] });
	await run({
		...{ task: '={{ $json.user }}', sessionId: 's1' },
		...{ waitForMessages: true, waitUntil: 'count', options: oneAtATime },
	});
	const sent = bodiesOf(service).map(({ initialPayload, userId, signature }) => [
		(JSON.parse(initialPayload) as IDataObject).task,
		userId,
		signature,
	]);
	expect(sent).toEqual(users.map((user) => [user, user, `${user}-signature`]));
	const channels = service.upgrades.map(({ query }) => query.signature);
	expect(channels).toEqual(users.map((user) => `${user}-signature`));
});

test.each([
	"$json.user || 'guest'",
	"$input.item.json.user ?? 'guest'",
	"$json['user']?.trim() ?? 'guest'",
])('a first item for which %s falls back does not stand for the others', async (expression) => {
	await serve();
	const own = { ...signer, userId: `={{ ${expression} }}` };
	await run({}, { signer: own, items: [{ json: {} }, ...items] });
	expect(bodiesOf(service).map(({ userId }) => userId)).toEqual(['guest', ...users]);
});

test('an error shows no secret of its item', async () => {
	await serve({ execute: ({ body }) => ({ status: 422, body: JSON.stringify(body) }) });
	const failed = await run({}, { node: goOn });
	const text = JSON.stringify(failed);
	expect(service.requests).toHaveLength(3);
	const secrets = users.flatMap((user) => [`${user}-key`, `${user}-signature`]);
	expect(secrets.flatMap((secret) => formsIn(text, secret))).toEqual([]);
});

test('a credential that cannot be used for one item is the failure of this item', async () => {
	await serve();
	const api = { apiKey: `={{ $json.user === '${users[1]}' ? '' : '${apiKey}' }}` };
	const results = await run({}, { node: goOn, api });
	expect(results.map(({ json }) => 'error' in json)).toEqual([false, true, false]);
	expect(service.requests).toHaveLength(2);
});

test.each([
	['has no expressions', {}, 4],
	['has expressions that do not depend on the item', { userId: '={{ 1 + 1 }}' }, 4],
	['depends on the item', { userId: '={{ $json.n + 1 }}' }, 4 + 2 * 50],
])('a credential that %s is read no more often than needed', async (_, own, expected) => {
	await serve();
	let readings = 0;
	const onCredentialRead = () => readings++;
	await run({}, { signer: own, items: numbered(50), onCredentialRead });
	expect(readings).toBe(expected);
});
