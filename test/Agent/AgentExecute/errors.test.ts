import { errorOfStatus } from '../../../nodes/Agent/AgentExecute/errors';

const call = {
	url: 'https://agent.example.com/execute',
	options: { timeoutSeconds: 300, maxResponseBytes: 1000 },
	redact: (text: string) => text,
};
const answered = (statusCode: number, headers = {}) =>
	errorOfStatus({ statusCode, headers, body: Buffer.from('words') }, call);

test.each([
	[401, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[403, 'final', 'The agent service refused the API key or the signature', 'Check the API key'],
	[404, 'final', 'The agent service was not found at this address', 'Check the Deployment URL'],
	[407, 'final', 'The proxy refused the call', 'Check the proxy'],
	[408, 'unknown', 'The agent service did not get the whole call in time', 'The service may have started'],
	[418, 'final', 'The agent service rejected the call', 'The text above'],
	[429, 'notDone', 'The agent service is rate-limiting requests', 'Lower the option'],
	[500, 'unknown', 'The agent service reported an error', 'internal error.'],
	[502, 'unknown', 'The gateway in front of the agent service got no valid', 'Check the session'],
	[503, 'unknown', 'The agent service reported an error', 'internal error.'],
	[504, 'unknown', 'The gateway in front of the agent service got no response', 'Check the session'],
])('status %d is %s, and says what happened and what to do', (code, kind, message, advice) => {
	const { kind: outcome, failure } = answered(code);
	expect([outcome, failure.code]).toEqual([kind, code]);
	expect(failure.message).toMatch(new RegExp(`^${message}.*\\(${code}\\): words$`));
	expect(failure.description).toContain(advice);
	const mayBeStarted = failure.description?.includes('The service may have started the agent');
	expect(mayBeStarted).toBe(kind === 'unknown');
});

test('503 with Retry-After says that nothing was done', () => {
	const { kind, failure } = answered(503, { 'retry-after': '3' });
	expect(kind).toBe('notDone');
	expect(failure.description).toBe('The service is temporarily busy or down. It did not start the agent.');
	expect(failure.retryAfterMilliseconds).toBe(3000);
});
