import { getFormUrl, submitForm } from '../../dev/n8n/forms.ts';
import { secrets } from './credentials';
import { manualTrigger, node, useSharedN8n } from './startTestN8n';
import { Station, type Stored, until } from './station';
import { agentType, inRow, outputOf } from './workflows';

const station = new Station(useSharedN8n);
const countOf = async (stored: Stored) => (await station.messagesOf(stored)).length;
const numbers = (messages: readonly unknown[]) => messages.map(Number).sort((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('the example: the answer of an agent, which the same workflow starts, runs its lower row once', async () => {
	const example = station.example('agent-answers-start-a-workflow.json');
	const stored = await station.publish(example);
	await until(() => station.service.countOpenChannels() === 1);
	await submitForm(getFormUrl(station.n8n.url, example), 'Tell me when it is done');
	// The form's execution, and one for each answer; what comes before the last one and is no answer is filtered out.
	const executions = async () =>
		await station.executions({ workflowId: stored.id, status: ['success'] });
	await until(async () => (await executions()).length === 2);
	const session = '6f0c1c1e-3b0a-4f7e-9a53-2f1d6c1f7a10';
	station.service.send(session, { type: 'progress' }, { type: 'answer', text: 'Last' });
	await until(async () => (await executions()).length > 2);
	expect(await station.executions({ workflowId: stored.id })).toHaveLength(3);
});

test('the example: an agent is asked and its answer awaited', async () => {
	const example = station.example('ask-the-agent-and-wait.json');
	const execution = await station.n8n.api.runOnce(example, 'When clicking ‘Execute workflow’');
	const [shown] = outputOf(execution, 'Agent Execute');
	expect(shown?.json).toMatchObject({
		output: 'Done: How many rows has the sheet?',
		endedBy: 'match',
	});
	expect(shown?.json['messages']).toHaveLength(2);
});

test('published while the service is down, it gets the messages when the service is there (#9499)', async () => {
	const { port } = station.service;
	await station.service.close();
	const stored = await station.publish(station.workflow('down'));
	await new Promise((resolve) => setTimeout(resolve, 1500));
	await station.serve({ port });
	await until(station.isOpen('down'));
	station.service.send('down', 1, 2, 3);
	await until(async () => (await countOf(stored)) === 3);
});

test('published again under traffic, one channel is left, with the new settings (#10836, #3824)', async () => {
	let stored = await station.publish(station.workflow('again'));
	await until(station.isOpen('again'));
	for (let round = 1; round <= 5; round++) {
		const before = station.service.upgrades.length;
		stored = await station.publishAgain(stored, {
			pingText: `ping ${round}`,
			heartbeatSeconds: 1,
		});
		station.service.send('again', round);
		await until(() => station.service.upgrades.length > before && station.isOpen('again')());
	}
	await until(() => station.service.received.some(({ data }) => data.toString() === 'ping 5'));
	expect(station.service.countOpenChannels('again')).toBe(1);
	station.service.send('again', 99);
	await until(async () => (await station.messagesOf(stored)).includes(99));
	const messages = await station.messagesOf(stored);
	expect(messages.length).toBe(new Set(messages).size);
});

describe('stopped with a queue of messages', () => {
	/** Listens, one execution at a time, each of which takes a while. */
	function slow(name: string, options: object) {
		const { nodes, ...rest } = station.workflow(name, { options });
		const wait = { resume: 'timeInterval', amount: 1, unit: 'seconds' };
		const [trigger = {}] = nodes;
		return {
			...rest,
			nodes: [
				trigger,
				node('Done', 'n8n-nodes-base.wait', wait, { typeVersion: 1.1, webhookId: name }),
			],
		};
	}

	const queued = async (name: string, count: number, maxConcurrentExecutions = 1) => {
		const stored = await station.publish(slow(name, { maxConcurrentExecutions }));
		await until(station.isOpen(name));
		station.service.send(name, ...upTo(count));
		await until(async () => (await station.executions({ workflowId: stored.id })).length > 0);
		return stored;
	};

	test('by unpublishing, it still hands them over', async () => {
		const stored = await queued('unpublished', 8, 2);
		await station.n8n.api.deactivate(stored);
		await until(async () => (await countOf(stored)) === 8);
		expect(numbers(await station.messagesOf(stored))).toEqual(upTo(8));
	});

	test('by publishing it again, it starts no flood of executions, and loses or doubles nothing', async () => {
		const stored = await queued('republished', 200);
		const { nodes } = slow('republished', { maxConcurrentExecutions: 2, batchSize: 200 });
		const [{ parameters } = {}] = nodes;
		const [trigger, ...others] = stored.nodes;
		const saved = await station.n8n.api.request<Stored>('PATCH', `workflows/${stored.id}`, {
			nodes: [{ ...trigger, parameters }, ...others],
			versionId: stored.versionId,
		});
		await station.n8n.api.activate(saved);
		await until(async () => (await countOf(stored)) === 200);
		expect(numbers(await station.messagesOf(stored))).toEqual(upTo(200));
		expect((await station.executions({ workflowId: stored.id })).length).toBeLessThan(60);
	});
});

test('a refused key is one failed execution while the workflow stays active (#35789)', async () => {
	station.service.scriptUpgrades(
		{ status: 401, body: secrets.apiKey },
		{ status: 401 },
		{ status: 401 },
	);
	const stored = await station.publish(station.workflow('refused'));
	const failed = () => station.executions({ workflowId: stored.id, status: ['error'] });
	await until(async () => (await failed()).length === 1);
	const { active } = await station.n8n.api.request<{ active: boolean }>(
		'GET',
		`workflows/${stored.id}`,
	);
	expect(active).toBe(true);
});

describe('a test in the editor', () => {
	test('ends with the first message, and leaves no channel (#6810, #8871)', async () => {
		const stored = await station.n8n.api.createWorkflow(station.workflow('test'));
		const id = await station.n8n.api.startRun(stored, 'Trigger');
		await until(station.isOpen('test'));
		station.service.send('test', { hello: 1 }, { hello: 2 });
		const execution = await station.n8n.api.untilDone(id);
		const [item] = outputOf(execution, 'Trigger');
		expect([execution.status, item?.json.message]).toEqual(['success', { hello: 1 }]);
		await until(() => station.service.countOpenChannels() === 0);
	});

	test('"Stop listening" leaves no channel (#9159)', async () => {
		const stored = await station.n8n.api.createWorkflow(station.workflow('stop'));
		const id = await station.n8n.api.startRun(stored, 'Trigger');
		await until(station.isOpen('stop'));
		await station.n8n.api.stopExecution(id);
		await until(() => station.service.countOpenChannels() === 0);
	});
});

// The built package lacks the native add-ons that ws would use from 48 bytes on.
test.each([48, 100_000])(
	'an initial message of %d bytes reaches the service as it is',
	async (length) => {
		const initialMessage = 'abcdefgh'.repeat(length / 8 + 1).slice(0, length);
		const arrived = (session: string) => () =>
			station.service.received.some(
				({ sessionId, data }) =>
					sessionId === session && data.toString() === initialMessage,
			);
		const listening = `initial-${length}`;
		await station.publish(station.workflow(listening, { options: { initialMessage } }));
		await until(arrived(listening));

		const waiting = `asked-${length}`;
		const agent = node(
			'Agent',
			agentType,
			{
				sessionId: waiting,
				startStepName: 'start',
				task: 'Say hello',
				waitForMessages: true,
				waitUntil: 'count',
				waitOptions: { initialMessage },
			},
			{ credentials: station.credentials },
		);
		const { status } = await station.n8n.api.runOnce(inRow(waiting, manualTrigger(), agent));
		expect(status).toBe('success');
		await until(arrived(waiting));
	},
);
