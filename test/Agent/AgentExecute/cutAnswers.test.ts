import { type AgentService, type ExecuteStep, startAgentService } from '../../../dev/agent-service/server';
import { failureOf, withBinaryData } from '../../executeContext';
import { apiKey, runExecute } from './executeRun';

let service: AgentService;

beforeAll(withBinaryData);
beforeEach(async () => {
	service = await startAgentService({ apiKey });
});
afterEach(() => service.close());

const text = 'The whole answer of the agent.'.repeat(100);
const small = 'short';

test.each<[string, ExecuteStep]>([
	['a length', {}],
	['neither a length nor chunks', { untilClose: true }],
	['gzip', { gzip: 'whole' }],
	['gzip, until the connection ends', { gzip: 'whole', untilClose: true }],
])('an answer with %s arrives whole', async (_name, step) => {
	service.script({ ...step, body: text });
	const [item] = await runExecute(service);
	expect(item?.json.response).toBe(text);
});

test.each<[string, ExecuteStep]>([
	['ends before its length', { fault: 'cutBody', body: text }],
	['is reset before its length', { fault: 'resetBody', body: text }],
	['is reset without a length', { fault: 'resetBody', untilClose: true, body: text }],
	['is reset in the middle of gzip', { fault: 'resetBody', untilClose: true, gzip: 'whole', body: text }],
	['ends in the middle of gzip', { gzip: 'cut', body: text }],
	['ends in the middle of small gzip', { gzip: 'cut', body: small }],
	['ends in the middle of gzip, with the connection', { gzip: 'cut', untilClose: true, body: text }],
])('an answer that %s is a failure, and no success', async (_name, step) => {
	service.script(step);
	const error = await failureOf(runExecute(service, { parameters: { sessionId: 's1' } }));
	expect(error).toMatchObject({ httpCode: '502', context: { data: { sessionId: 's1' } } });
	expect(error.message).toContain('was cut off');
	expect(service.requests).toHaveLength(1);
});

test('an error that is packed is quoted', async () => {
	service.script({ status: 422, gzip: 'whole', body: { error: { message: 'no such step' } } });
	expect((await failureOf(runExecute(service))).message).toContain('no such step');
});

test('data that unpacks to more than 64 MiB is refused', async () => {
	service.script({ gzip: 'whole', body: Buffer.alloc(65 * 1024 * 1024) });
	expect((await failureOf(runExecute(service))).message).toContain('larger than 64 MiB');
});

test.each([undefined, 'whole' as const])(
	'so is an answer above the limit of the user, packed: %s',
	async (gzip) => {
		service.script({ gzip, body: Buffer.alloc(2000) }, { gzip, body: Buffer.alloc(2000) });
		const parameters = (maxResponseBytes: number) => ({ parameters: { options: { maxResponseBytes } } });
		const error = await failureOf(runExecute(service, parameters(1999)));
		expect(error.message).toContain('larger than 1,999 bytes');
		expect(error.description).toContain("'Max Response Size (Bytes)'");
		expect(await runExecute(service, parameters(2000))).toHaveLength(1);
	},
);

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
