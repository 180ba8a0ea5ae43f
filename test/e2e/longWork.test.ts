// What a restart of n8n does to each way of working with an agent that takes hours: as docs/long-running-agents.md says.
import { getFormUrl, submitForm } from '../../dev/n8n/forms.ts';
import type { ExecuteFields } from '../../dev/agent-service/request.ts';
import { manualTrigger, node, connectInRow } from './startTestN8n';
import { Station, type Stored, until } from './station';

const station = new Station();
/** What the agent sends, the test sends. */
beforeAll(async () => {
	await station.service.close();
	const { port } = station.service;
	await station.serve({ port, messages: () => [] });
});

const start = (stored: Stored) =>
	station.n8n.api.startRun(stored, 'When clicking ‘Execute workflow’');
const outputOf = async (id: string, name: string) => {
	const { resultData } = await station.n8n.api.execution(id);
	return resultData.runData[name]?.at(-1)?.data?.main?.[0]?.[0]?.json;
};

test('the trigger listens again after a restart; what came meanwhile is lost, and the numbers begin anew', async () => {
	const stored = await station.publish(station.example('long-work-by-trigger.json'));
	const started = () =>
		station.executions({ workflowId: stored.id, mode: 'trigger', status: ['success'] });
	await until(() => station.service.countOpenChannels() === 1);
	await submitForm(getFormUrl(station.n8n.url, stored), 'Work through the list');
	const run = await station.n8n.api.untilTriggered(stored, undefined, { mode: 'webhook' });
	expect(run.status).toBe('success');
	const { sessionId } = station.service.requests.at(-1)?.body as ExecuteFields;
	station.service.send(sessionId, { type: 'step', text: 'on it' });
	await station.n8n.kill();
	station.service.send(sessionId, { type: 'answer', text: 'lost' });
	await station.n8n.restart();
	await until(() => station.service.countOpenChannels() === 1);
	station.service.send(
		sessionId,
		{ type: 'step', text: 'still' },
		{ type: 'answer', text: 'done' },
	);
	await until(async () => (await started()).length === 1);
	const [id = ''] = await started();
	expect(await outputOf(id, 'Agent Session Trigger')).toMatchObject({
		sequence: 2,
		message: { text: 'done' },
	});
	expect(await outputOf(id, 'Agent Session Trigger')).not.toHaveProperty('gapMs');
	expect(await outputOf(id, 'Take the answer')).toEqual({ type: 'answer', text: 'done' });
});

/** Starts a node that waits for messages. @returns its execution */
async function startWait(): Promise<string> {
	const parameters = {
		startStepName: 'start',
		task: 'Say hello',
		waitForMessages: true,
		waitUntil: 'close',
	};
	const agent = node('Agent', 'n8n-nodes-agent-workspace.agentExecute', parameters, {
		credentials: station.credentials,
	});
	const stored = await station.n8n.api.createWorkflow({
		name: 'waits',
		nodes: [manualTrigger(), agent],
		connections: connectInRow('Start', 'Agent'),
	});
	return await station.n8n.api.startRun(stored, 'Start');
}

test('an execution that is put aside outlives a restart, and goes on when the agent calls back; one that waits for messages ends with n8n, and its agent is not started again', async () => {
	const stored = await station.n8n.api.createWorkflow(
		station.example('long-work-calls-back.json'),
	);
	const aside = await start(stored);
	await until(
		async () =>
			(await station.executions({ workflowId: stored.id, status: ['waiting'] })).length === 1,
	);
	const { sessionId, initialPayload } = station.service.requests.at(-1)?.body as ExecuteFields;
	const { resumeUrl } = JSON.parse(initialPayload) as { resumeUrl: string };
	const calls = station.service.requests.length;
	const waiting = await startWait();
	await until(() => station.service.requests.length === calls + 1);
	await station.n8n.kill();
	await station.n8n.restart();
	const { pathname, search } = new URL(resumeUrl);
	const answer = await fetch(`${station.n8n.url}${pathname}${search}`, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ text: 'done' }),
	});
	expect(answer.status).toBe(200);
	expect((await station.n8n.api.untilDone(aside)).status).toBe('success');
	expect(await outputOf(aside, 'Take the answer')).toEqual({
		sessionId,
		answer: { text: 'done' },
	});
	expect((await station.n8n.api.untilDone(waiting)).status).toBe('crashed');
	expect(station.service.requests).toHaveLength(calls + 1);
});
