import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../dev/google/server';

import { createNodeTool } from './runNode';
import { useGoogle } from './standIn';
import { countStoredResults } from '../sharedState';

let google: GoogleServer;
useGoogle((server) => (google = server));
afterEach(() => {
	expect(countStoredResults()).toBe(0);
});

const send = 'gmail.users.messages.send';
const tryOnce = { timeLimits: { limits: { maxRetryWaitSeconds: 0 } } };
const mail = { resource: 'mail', operation: 'send', to: 'a@example.com', subject: 'S', body: 'B' };

const toolWith = (parameters: IDataObject, node = {}) =>
	createNodeTool({
		url: google.url,
		node: { type: 'test.workspaceTool', ...node },
		items: [{ json: { chatInput: 'Draft a reply' } }],
		parameters,
	});

/** A tool that sends mails, with n8n's Retry On Fail. */
const mailTool = () =>
	toolWith(
		{ ...mail, options: tryOnce },
		{ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
	);

const sends = () => google.requests.filter(({ method }) => method === send).length;

test('an email whose fate is unknown goes out once, in all tries of n8n, and the model is told so', async () => {
	google.fault({ match: send, connection: 'resetBefore' });
	const error = await mailTool()({}).catch((reason: unknown) => reason);
	expect(sends()).toBe(1);
	expect(String(error)).toContain('The email may have been sent');
	expect(String(error)).not.toContain('You can retry');
});

test('an equal call after a failed one is a call of its own', async () => {
	const tool = mailTool();
	google.fault({ match: send, status: 400, times: 3 });
	await expect(tool({})).rejects.toThrow();
	await tool({});
	await tool({});
	expect(google.gmail.sent).toHaveLength(2);
});

describe('what a failing tool tells', () => {
	const jsonTool = (node = {}) =>
		toolWith({ inputMode: 'json', inputObject: "={{ $fromAI('input', '', 'json') }}" }, node);
	const input = { operation: 'send', recipient: 'a@example.com' };

	test('the message names what is wrong and what is allowed, for the model sees nothing else', async () => {
		const error = await jsonTool()({ input }).catch((reason: unknown) => reason as Error);
		expect((error as Error).message).toMatch(/'recipient'.*Allowed keys: .*\bto\b/s);
		expect(sends()).toBe(0);
	});

	test('a line that drops is told in our words, not in those that n8n puts in place of a code', async () => {
		google.fault({ match: 'gmail.users.messages.list', connection: 'resetBefore', times: 99 });
		const tool = toolWith({ resource: 'mail', operation: 'list', options: tryOnce });
		const error = await tool({}).catch((reason: unknown) => reason as Error);
		expect((error as Error).message).not.toContain('ECONNRESET');
		expect((error as Error).message).toMatch(
			/was lost before the service responded: the connection was reset\. .*Check that the machine/,
		);
	});
});
