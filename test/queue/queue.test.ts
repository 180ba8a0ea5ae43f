import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { items, manualTrigger, node } from '../e2e/startTestN8n';
import { until } from '../e2e/station';
import { agentType, inRow, outputOf, triggerType, workspaceType } from '../e2e/workflows';
import { cut, QueueStation } from './queueStation';

let station: QueueStation;

beforeAll(async () => {
	station = await QueueStation.start();
});
afterAll(async () => {
	await station.stop();
});

test('a worker starts an agent and waits for its messages', async () => {
	station.agent.script({ messages: [{ type: 'progress' }, { type: 'done', text: 'ready' }] });
	const parameters = {
		startStepName: 'start',
		task: 'Say hello',
		waitForMessages: true,
		waitUntil: 'match',
		matchField: 'type',
		matchValue: 'done',
	};
	const { credentials } = station;
	const agent = node('Agent', agentType, parameters, { credentials });
	const execution = await station.run(inRow('agent on a worker', manualTrigger(), agent));
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'Agent')[0]?.json).toMatchObject({
		statusCode: 200,
		endedBy: 'match',
		messages: [{ sequence: 1 }, { sequence: 2, message: { type: 'done', text: 'ready' } }],
	});
	expect(station.agent.countOpenChannels()).toBe(0);
});

test('a worker sends emails, and a file goes up from the binary data of the database', async () => {
	const toFile = node(
		'File',
		'n8n-nodes-base.convertToFile',
		{ operation: 'toText', sourceProperty: 'text' },
		{ typeVersion: 1.1 },
	);
	const mail = {
		operation: 'send',
		to: 'ann@example.com',
		subject: 'Hi',
		body: 'Text',
		options: { attachments: 'data' },
	};
	const { credentials } = station;
	const execution = await station.run(
		inRow(
			'workspace on a worker',
			manualTrigger(),
			items('Items', [{ text: 'one' }, { text: 'two' }]),
			toFile,
			node('Send', workspaceType, mail, { credentials }),
		),
	);
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'Send')).toHaveLength(2);
	expect(station.google.gmail.sent).toHaveLength(2);
	expect(station.google.violations).toEqual([]);
});

test('a published trigger on main starts executions on the worker', async () => {
	const { credentials } = station;
	const trigger = node('Trigger', triggerType, { sessionIds: 'queue-session' }, { credentials });
	const workflow = await station.main.api.createWorkflow(
		inRow('trigger in queue mode', trigger, node('After', 'n8n-nodes-base.noOp')),
	);
	await station.main.api.activate(workflow);
	await until(() => station.agent.countOpenChannels('queue-session') > 0);
	station.agent.send('queue-session', { hello: 'worker' });
	const execution = await station.main.api.untilTriggered(workflow);
	expect(execution.status).toBe('success');
	expect(outputOf(execution, 'After')[0]?.json).toMatchObject({
		sequence: 1,
		message: { hello: 'worker' },
	});
	expect(station.worker.output()).toContain(`execution ${execution.id}`);
	await station.main.api.deactivate(workflow);
	await until(() => station.agent.countOpenChannels('queue-session') === 0);
});

describe('under traffic', () => {
	let workflow: { id: string; versionId: string };
	/** Tells a test's calls of the agent from late ones of the test before. */
	let startStepName = '';
	let count = 0;

	/** Each message starts an execution that calls the agent with its number. */
	beforeEach(async () => {
		const { agent, credentials, main } = station;
		startStepName = `start ${++count}`;
		const parameters = { startStepName, input: '={{ $json.message }}' };
		workflow = await main.api.createWorkflow(
			inRow(
				'traffic',
				node('Trigger', triggerType, { sessionIds: 'traffic' }, { credentials }),
				node('Agent', agentType, parameters, { credentials }),
			),
		);
		await main.api.activate(workflow);
		await until(() => agent.countOpenChannels('traffic') > 0);
	});
	afterEach(async () => {
		await station.main.api.deactivate(workflow);
		await until(() => station.agent.countOpenChannels('traffic') === 0);
	});

	const called = () =>
		station.agent.requests
			.map(({ body }) => body as ExecuteFields)
			.filter((fields) => fields.startStepName === startStepName)
			.map(({ initialPayload }) =>
				Number((JSON.parse(initialPayload) as { input: unknown }).input),
			)
			.sort((a, b) => a - b);
	const hasEnded = async () =>
		!(await station.statuses(workflow)).some((status) => ['new', 'running'].includes(status));
	const ended = async (count: number) =>
		(await station.statuses(workflow)).length === count && (await hasEnded());

	test('Redis is unreachable and comes back: no message is lost, and no agent is started twice', async () => {
		const { agent, redisLink } = station;
		agent.send('traffic', 1, 2, 3);
		await until(() => called().length === 3);
		const { arrivals } = redisLink;
		const reconnect = cut(redisLink);
		agent.send('traffic', 4, 5, 6);
		// Main and the worker have tried to reach it again.
		await until(() => redisLink.arrivals >= arrivals + 4);
		reconnect();
		agent.send('traffic', 7, 8, 9);
		await until(() => ended(9));
		expect(called()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
		expect(await station.statuses(workflow)).toEqual(
			Array.from({ length: 9 }, () => 'success'),
		);
	});

	test('a worker is killed: what it was working on is lost and not done twice, and the next worker goes on', async () => {
		const { agent } = station;
		agent.script({ fault: 'silence' }, { fault: 'silence' });
		agent.send('traffic', 1, 2);
		await until(() => called().length === 2);
		await station.endWorker('SIGKILL');
		agent.send('traffic', 3);
		await station.startWorker();
		await until(() => ended(3));
		expect(called()).toEqual([1, 2, 3]);
		const [third, ...lost] = await station.statuses(workflow);
		expect(third).toBe('success');
		// Whichever finds them first: main, which looks for executions without a job, or a worker, for jobs that nobody works on.
		for (const status of lost) expect(['crashed', 'error']).toContain(status);
	});

	test('the database is unreachable and comes back: what n8n does not take stands in its log, it goes on, and nothing is done twice', async () => {
		const { agent, databaseLink, main } = station;
		agent.send('traffic', 1, 2, 3);
		await until(() => ended(3));
		const reconnect = cut(databaseLink);
		agent.send('traffic', 4, 5, 6);
		await until(() => main.output().includes('not accepted by n8n'));
		reconnect();
		// Main and the worker find it again at moments of their own.
		for (let next = 7; !called().some((message) => message >= 7); next++) {
			agent.send('traffic', next);
			await new Promise((resolve) => setTimeout(resolve, 1000));
		}
		await until(async () => (await fetch(`${main.url}/healthz/readiness`)).ok);
		await until(() =>
			main.output().includes('n8n accepts messages again. Sessions: traffic ('),
		);
		expect(called().slice(0, 3)).toEqual([1, 2, 3]);
		expect(new Set(called()).size).toBe(called().length);
		// What starts later would take the answers of the next test.
		await until(hasEnded);
	});

	test('Redis comes back without its data: what was in flight is told, the next messages start, and nothing starts twice', async () => {
		const { agent, main } = station;
		agent.send('traffic', 1);
		await until(() => ended(1));
		// The worker takes five of the ten executions in flight. The others are jobs in Redis.
		let answer = () => {};
		const emptied = new Promise<void>((resolve) => (answer = resolve));
		agent.script(
			...Array.from({ length: 5 }, () => ({ after: emptied, delayMilliseconds: 3000 })),
		);
		agent.send('traffic', ...Array.from({ length: 12 }, (_, index) => index + 2));
		await until(() => called().length === 6);
		await until(async () => (await station.statuses(workflow)).length === 11);
		await station.emptyRedis();
		answer();
		const isCalled = (message: number) => called().includes(message);
		await until(() => isCalled(12) && isCalled(13));
		expect(new Set(called()).size).toBe(called().length);
		expect(main.output()).toContain('n8n does not say what became of 10 executions');
		await until(async () => (await station.statuses(workflow)).includes('error'));
	});
});
