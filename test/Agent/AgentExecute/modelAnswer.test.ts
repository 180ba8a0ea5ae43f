// What a model gets of an agent's answer: the text and the session, within a limit.
import { type AgentService, startAgentService } from '../../../dev/agent-service/server.ts';
import { turns } from '../../turns';
import { apiKey, callTool } from './executeRun';

let service: AgentService;

async function answer(text: unknown, options: object = {}) {
	service = await startAgentService({
		apiKey,
		execute: () => ({ body: { text, trace: 'x'.repeat(50_000) } }),
	});
	return await callTool(service, { sessionId: 's1', options });
}

afterEach(async () => {
	await service.close();
});

test('the text and the session, without the response that holds them', async () => {
	expect(JSON.parse(await answer('Done.'))).toEqual([{ output: 'Done.', sessionId: 's1' }]);
});

test('a wait until the service closes the channel has ended as planned when it does', async () => {
	service = await startAgentService({ apiKey });
	const waiting = callTool(service, {
		sessionId: 's1',
		waitForMessages: true,
		waitUntil: 'close',
	});
	while (service.requests.length === 0) await turns(1);
	service.send('s1', { text: 'Done.' });
	service.closeChannels(1000);
	expect(JSON.parse(await waiting)).toEqual([{ output: 'Done.', sessionId: 's1' }]);
});

test('without a text, a wait gives its last message and not the receipt of the call', async () => {
	service = await startAgentService({
		apiKey,
		answer: () => ({ status: 'accepted' }),
		messages: () => [{ content: 'Paris' }],
	});
	const wait = { waitForMessages: true, waitUntil: 'count' };
	const [answered] = JSON.parse(
		await callTool(service, { sessionId: 's1', ...wait }),
	) as unknown[];
	expect(answered).toEqual({ output: '{"content":"Paris"}', sessionId: 's1' });
});

test('without any message, a wait gives null and not the receipt of the call', async () => {
	service = await startAgentService({
		apiKey,
		answer: () => ({ status: 'accepted' }),
		messages: () => [],
	});
	const wait = { waitForMessages: true, waitUntil: 'count', waitTimeoutSeconds: 1 };
	const waitOptions = { onWaitTimeout: 'output' };
	const answered: unknown = JSON.parse(
		await callTool(service, { sessionId: 's1', ...wait, waitOptions }),
	);
	expect(answered).toContainEqual({ output: null, sessionId: 's1', endedBy: 'timeout' });
});

test.each(['', 'null'])('a response without content (%j) is null, and not a text', async (body) => {
	service = await startAgentService({
		apiKey,
		execute: () => ({ body, contentType: 'application/json' }),
	});
	const [answered] = JSON.parse(await callTool(service, { sessionId: 's1' })) as unknown[];
	expect(answered).toEqual({ output: null, sessionId: 's1' });
});

test('a long text is shortened, and the last line says how much there is', async () => {
	const text = await answer('One more line.\n'.repeat(20_000));
	expect(text.length).toBeLessThanOrEqual(30_000);
	expect(JSON.parse(text)).toMatchObject([
		{ output: expect.stringMatching(/^One more line\.\nOne/) as string, sessionId: 's1' },
		{ note: expect.stringMatching(/^Characters 0 to \d+ of 300000 are shown\.$/) as string },
	]);
});

test('without a text, the beginning of the response and what a person would read below the node', async () => {
	const text = await answer(undefined);
	expect(text.length).toBeLessThanOrEqual(30_000);
	expect(text).toContain('\\"trace\\":');
	expect(text).toContain("enter it as 'Text Field' in the options");
});
