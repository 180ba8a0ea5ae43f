import { gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';

import type { AgentService, ExecuteStep } from '../../../dev/agent-service/server';
import { failureOf } from '../../createExecuteContext';
import { roundsOf } from '../../growth';
import { useSteadyClock } from '../../steadyClock';
import { goOn, numbered, runExecute, serveEach } from './executeRun';

let service: AgentService;
const serve = serveEach((started) => (service = started));
beforeEach(() => serve());
useSteadyClock();

describe('costly answers', () => {
	const unpacksTo = (bytes: number, unit: string) => ({
		body: gzipSync(`[${unit.repeat(bytes / unit.length)}0]`),
		headers: { 'content-encoding': 'gzip' },
		contentType: 'application/json',
	});

	test.each(['{},', '0,', '"a",'])(
		'four small answers at once that unpack to many megabytes of %s are refused unparsed',
		async (unit) => {
			const answer = unpacksTo(Math.max(28_000_000, roundsOf(63_000_000)), unit);
			service.script(answer, answer, answer, answer);
			const items = await runExecute(service, { items: numbered(4), node: goOn });
			const refused = expect.stringContaining(
				"The agent service's response has too many parts to read, or is nested too deeply",
			) as string;
			const messages = items.map(({ json }) => (json.error as IDataObject).message);
			expect(messages).toEqual(Array(4).fill(refused));
			expect(service.requests).toHaveLength(4);
		},
	);

	test('a character set beside no media type does not hide it either', async () => {
		service.script({ body: `[${'{},'.repeat(2_000_000)}0]`, contentType: '; charset=utf-16' });
		expect((await failureOf(runExecute(service))).message).toContain(
			'has too many parts to read',
		);
	});

	const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

	test('an answer nested deeper than n8n can copy is refused, and the agent not started again', async () => {
		const contentType = 'application/json';
		service.script(...[1000, 1001].map((levels) => ({ body: nested(levels), contentType })));
		const [item] = await runExecute(service);
		expect(JSON.stringify(item?.json.response)).toBe(nested(1000));
		const run = () => runExecute(service, { executionId: 'deep', node: { retryOnFail: true } });
		for (let tries = 0; tries < 2; tries++)
			expect((await failureOf(run())).message).toContain('is nested too deeply');
		expect(service.requests).toHaveLength(2);
	});

	const colors = '[12:00] \u001b[32mdone\u001b[0m\n'.repeat(1000);

	test.each([
		['that begins like JSON and has the colors of a terminal', colors],
		['of many lines of JSON', '{}\n'.repeat(3_000_000)],
	])('a text %s is not parsed, so nothing in it is too much', async (_what, body) => {
		service.script({ body, contentType: 'text/plain; charset=iso-8859-1' });
		const [item] = await runExecute(service);
		expect(item?.json.response === body).toBe(true);
	});

	test('messages nested deeper than that are texts, also in what is told of a wait that did not end', async () => {
		await service.close();
		await serve({ messages: () => [nested(4000), nested(50_000)] });
		const wait = { waitForMessages: true, waitUntil: 'match', matchField: 'never' };
		const parameters = { ...wait, options: { waitTimeoutSeconds: 0.5 } };
		const [item] = await runExecute(service, { node: goOn, parameters });
		const { message, details } = item?.json.error as IDataObject;
		expect(message).toMatch(
			/^The wait for messages did not end within 0\.5 s\. Messages received: 2\./,
		);
		expect(details).toMatchObject({ messages: [{ format: 'text' }, { format: 'text' }] });
	});
});

describe('cut answers', () => {
	const text = 'The whole answer of the agent.'.repeat(100);

	test.each<[string, ExecuteStep]>([
		['a length', {}],
		['neither a length nor chunks', { untilClose: true }],
		['gzip', { gzip: true }],
		['gzip, until the connection ends', { gzip: true, untilClose: true }],
	])('an answer with %s arrives whole', async (_name, step) => {
		service.script({ ...step, body: text });
		const [item] = await runExecute(service);
		expect(item?.json.response).toBe(text);
	});

	test.each<[string, ExecuteStep]>([
		['ends before its length', { fault: 'cutBody', body: text }],
		['is reset before its length', { fault: 'resetBody', body: text }],
		['is reset without a length', { fault: 'resetBody', untilClose: true, body: text }],
	])('an answer that %s is a failure, and no success', async (_name, step) => {
		service.script(step);
		const error = await failureOf(runExecute(service, { parameters: { sessionId: 's1' } }));
		expect(error).toMatchObject({ httpCode: '502', context: { data: { sessionId: 's1' } } });
		expect(error.message).toContain('was cut off');
		expect(service.requests).toHaveLength(1);
	});

	test('an error that is packed is quoted', async () => {
		service.script({ status: 422, gzip: true, body: { message: 'no such step' } });
		expect((await failureOf(runExecute(service))).message).toContain('no such step');
	});

	test('data that unpacks to more than 64 MiB is refused', async () => {
		service.script({ gzip: true, body: Buffer.alloc(65 * 1024 * 1024) });
		expect((await failureOf(runExecute(service))).message).toContain('larger than 64 MiB');
	});

	test('a clock that is set forward meanwhile cuts nothing off', async () => {
		const now = Date.now.bind(Date);
		const clock = jest.spyOn(Date, 'now');
		service.script({ delayMilliseconds: 50, dripMilliseconds: 1, body: text.slice(0, 100) });
		const running = runExecute(service);
		clock.mockImplementation(() => now() + 3_600_000);
		try {
			expect((await running)[0]?.json.response).toBe(text.slice(0, 100));
		} finally {
			clock.mockRestore();
		}
	});

	test.each([
		'application/jsonl',
		'application/x-ndjson',
		'application/ndjson',
		'application/yaml',
		'application/x-yaml; charset=utf-8',
		'application/vnd.oai.openapi+yaml',
	])('%s is text', async (contentType) => {
		service.script({ contentType, body: '{"a":1}\n{"a":2}\n' });
		const [item] = await runExecute(service);
		expect([item?.json.response, item?.binary]).toEqual(['{"a":1}\n{"a":2}\n', undefined]);
	});
});
