// n8n is killed, is stopped, and has no room on its disk: what becomes of messages, and of each way of working with an agent that takes
// hours, as docs/long-running-agents.md says.
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { runCommand } from '../../dev/n8n/command.ts';
import { getFormUrl, submitForm } from '../../dev/n8n/forms.ts';
import { root } from '../../dev/n8n/installN8n.ts';
import { formsIn } from '../forms';
import { secrets } from './credentials';
import { manualTrigger, node, startTestN8n, withoutCode } from './startTestN8n';
import { Station, type Stored, until } from './station';
import { agentType, inRow, outputOf } from './workflows';

const MiB = 1024 * 1024;
const station = new Station(() => startTestN8n({ env: withoutCode }));
/** What the agent sends, the test sends. */
beforeAll(async () => {
	await station.service.close();
	const { port } = station.service;
	await station.serve({ port, messages: () => [] });
});

/** A workflow of one Agent Execute. */
async function createAgentWorkflow(name: string, parameters: object, more: object = {}) {
	const agent = node(
		'Agent',
		agentType,
		{ startStepName: 'start', task: 'Say hello', ...parameters },
		{ credentials: station.credentials, ...more },
	);
	return await station.n8n.api.createWorkflow(inRow(name, manualTrigger(), agent));
}

async function countCalls(action: () => Promise<unknown>): Promise<number> {
	const before = station.service.requests.length;
	await action();
	return station.service.requests.length - before;
}

const lastCall = () => station.service.requests.at(-1)?.body as ExecuteFields;

async function givenIn(id: string, name: string) {
	return outputOf(await station.n8n.api.execution(id), name)[0]?.json;
}

describe('killed and started again', () => {
	let triggered: { readonly stored: Stored; readonly sessionId: string };
	let aside: { readonly id: string; readonly sessionId: string; readonly resumeUrl: string };
	/** The execution that waits for messages. */
	let waiting: string;

	beforeAll(async () => {
		triggered = await askByTrigger();
		aside = await putAside();
		waiting = await startWait();
		await station.n8n.kill();
		station.service.send(triggered.sessionId, { type: 'answer', text: 'lost' });
		await station.n8n.restart();
	});

	/** The agent is asked, and has sent the first of its messages. */
	async function askByTrigger() {
		const stored = await station.publish(station.example('long-work-by-trigger.json'));
		await until(() => station.service.countOpenChannels() === 1);
		await submitForm(getFormUrl(station.n8n.url, stored), 'Work through the list');
		const run = await station.n8n.api.untilTriggered(stored, undefined, { mode: 'webhook' });
		expect(run.status).toBe('success');
		const { sessionId } = lastCall();
		station.service.send(sessionId, { type: 'step', text: 'on it' });
		return { stored, sessionId };
	}

	async function putAside() {
		const example = station.example('long-work-calls-back.json');
		const stored = await station.n8n.api.createWorkflow(example);
		const id = await station.n8n.api.startRun(stored, 'When clicking ‘Execute workflow’');
		const filter = { workflowId: stored.id, status: ['waiting'] };
		await until(async () => (await station.executions(filter)).length === 1);
		const { sessionId, initialPayload } = lastCall();
		const { resumeUrl } = JSON.parse(initialPayload) as { resumeUrl: string };
		return { id, sessionId, resumeUrl };
	}

	async function startWait(): Promise<string> {
		const stored = await createAgentWorkflow('waits', {
			waitForMessages: true,
			waitUntil: 'close',
		});
		const calls = station.service.requests.length;
		const id = await station.n8n.api.startRun(stored, 'Start');
		await until(() => station.service.requests.length > calls);
		return id;
	}

	test('the trigger listens again; what came meanwhile is lost, and the numbers begin anew', async () => {
		const { stored, sessionId } = triggered;
		await until(() => station.service.countOpenChannels() === 1);
		station.service.send(
			sessionId,
			{ type: 'step', text: 'still' },
			{ type: 'answer', text: 'done' },
		);
		const filter = { workflowId: stored.id, mode: 'trigger', status: ['success'] };
		await until(async () => (await station.executions(filter)).length === 1);
		const [id = ''] = await station.executions(filter);
		const message = await givenIn(id, 'Agent Session Trigger');
		expect(message).toMatchObject({ sequence: 2, message: { text: 'done' } });
		expect(message).not.toHaveProperty('gapMs');
		expect(await givenIn(id, 'Take the answer')).toEqual({ type: 'answer', text: 'done' });
	});

	test('an execution that is put aside goes on when the agent calls back; one that waits for messages ends with n8n, and its agent is not started again', async () => {
		const calls = await countCalls(async () => {
			const { pathname, search } = new URL(aside.resumeUrl);
			const answer = await fetch(`${station.n8n.url}${pathname}${search}`, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ text: 'done' }),
			});
			expect(answer.status).toBe(200);
			expect((await station.n8n.api.untilDone(aside.id)).status).toBe('success');
			const answered = { sessionId: aside.sessionId, answer: { text: 'done' } };
			expect(await givenIn(aside.id, 'Take the answer')).toEqual(answered);
			expect((await station.n8n.api.untilDone(waiting)).status).toBe('crashed');
		});
		expect(calls).toBe(0);
	});
});

test('SIGTERM ends the channel, a failed execution says which messages are lost, and a restart opens the channel again', async () => {
	const wait = { resume: 'timeInterval', amount: 1, unit: 'seconds' };
	const { nodes, ...rest } = station.workflow('ended', {
		options: { maxConcurrentExecutions: 1 },
	});
	const slow = node('Done', 'n8n-nodes-base.wait', wait, {
		typeVersion: 1.1,
		webhookId: 'ended',
	});
	const stored = await station.publish({ ...rest, nodes: [...nodes.slice(0, 1), slow] });
	await until(station.isOpen('ended'));
	station.service.send('ended', ...Array.from({ length: 20 }, (_, index) => index + 1));
	await until(async () => (await station.executions({ workflowId: stored.id })).length > 0);
	await station.n8n.stop();
	// What n8n and the trigger write when they stop: the suite of canaries looks at an n8n that goes on.
	const written = station.n8n.output();
	expect(Object.values(secrets).flatMap((secret) => formsIn(written, secret))).toEqual([]);
	expect(station.service.countOpenChannels()).toBe(0);
	await station.n8n.restart();
	await until(station.isOpen('ended'));
	const failed = await station.executions({ workflowId: stored.id, status: ['error'] });
	const errors = failed.map(
		async (id) => (await station.n8n.api.execution(id)).resultData.error?.message,
	);
	// On a slow machine, the second execution may have started before the end.
	const started = (await station.executions({ workflowId: stored.id })).length - failed.length;
	expect(started).toBeLessThan(20);
	expect(await Promise.all(errors)).toEqual([
		`The trigger was stopped while ${20 - started} messages were waiting`,
	]);
});

describe('a disk that takes no more', () => {
	/**
	 * The operating system refuses n8n every write beyond a size (RLIMIT_FSIZE).
	 * @param bytes size beyond which no file of n8n grows
	 */
	async function limitFiles(bytes: number | 'unlimited'): Promise<void> {
		const { pid } = station.n8n;
		await runCommand('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], {
			cwd: root,
		});
	}

	afterEach(async () => {
		await limitFiles('unlimited');
	});

	test('an answer that cannot be stored fails its item, and the agent is not started again by Retry On Fail', async () => {
		const file = { body: Buffer.alloc(24 * MiB), contentType: 'application/octet-stream' };
		station.service.script(file, file);
		const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 };
		const stored = await createAgentWorkflow('full', {}, tries);
		const calls = await countCalls(async () => {
			// The database stays below it.
			await limitFiles(16 * MiB);
			const full = await station.n8n.api.run(stored);
			expect(full.resultData.error).toMatchObject({
				message: 'n8n could not save a file of 25,165,824 bytes',
				description: expect.stringMatching(
					/^The agent was started, but .* has free space/,
				) as string,
			});
		});
		expect(calls).toBe(1);

		await limitFiles('unlimited');
		expect((await station.n8n.api.run(stored)).status).toBe('success');
	});

	test('a message that the database has no room for is told in the log, and starts its execution when it is sent again', async () => {
		const options = { deduplicationField: 'id' };
		const stored = await station.publish(station.workflow('room', { options }));
		await until(station.isOpen('room'));
		await limitFiles(1);
		station.service.send('room', { id: 1 });
		await until(() => station.n8n.output().includes('1 message was not accepted by n8n'));
		await limitFiles('unlimited');
		// No one remembers its ID.
		station.service.send('room', { id: 1 });
		await until(async () => (await station.messagesOf(stored)).length === 1);
	});
});
