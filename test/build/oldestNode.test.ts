// The oldest Node that the manifest allows: the built nodes load in it, and each operation does its work.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { ensureOldestNodeInstalled } from '../../dev/oldestNode/install';
import oldest from '../../dev/oldestNode/package.json';
import manifest from '../../package.json';
import { apiKey, signer } from '../Agent/AgentExecute/executeRun';
import { inputOf, subjects } from '../faults/samples';
import { World } from '../faults/world';
import { BuiltNodes, type Ended, Stage, startScript } from './built';

const stage = new Stage();
const children: ChildProcess[] = [];
let execPath: string;
let service: AgentService;

beforeAll(async () => {
	execPath = await ensureOldestNodeInstalled();
	stage.build();
	stage.buildHarness();
	service = await startAgentService({ apiKey, messages: () => [{ type: 'done' }] });
});

afterAll(async () => {
	for (const child of children) child.kill();
	stage.remove();
	await service.close();
});

async function runBuilt(name: string, contexts: readonly object[]): Promise<Ended[]> {
	const nodes = new BuiltNodes(stage, execPath);
	children.push(nodes.child);
	const answer = await nodes.run(name, contexts);
	expect(answer?.version).toBe(`v${oldest.dependencies.node}`);
	return answer?.ended ?? [];
}

const credentials = () => ({
	agentApi: { deploymentUrl: service.url, webSocketUrl: service.webSocketUrl, apiKey },
	agentSignatureApi: { allowedHosts: '', ...signer },
});

test('it is the one that is tried here', () => {
	const [major, minor, patch] = oldest.dependencies.node.split('.');
	expect([manifest.engines.node, patch]).toEqual([`>=${major}.${minor}`, '0']);
});

test('each operation of Workspace does its work', async () => {
	const worlds = await Promise.all(subjects.map(async () => await World.start()));
	const contexts = subjects.map(
		(subject, at) =>
			worlds[at]?.describeRun({ inputs: [inputOf(subject, worlds[at].seeds)] }) ?? {},
	);
	const ended = await runBuilt('Workspace', contexts);
	await Promise.all(
		worlds.map(async (world) => {
			await world.close();
		}),
	);
	const failed = ended.map(({ items, error }, at) => [
		subjects[at]?.name,
		items?.length === 0 ? 'no items' : error,
	]);
	expect(failed).toEqual(subjects.map(({ name }) => [name, undefined]));
});

test('an email in Windows-1252 has its quotation marks and its euro sign', async () => {
	const world = await World.start();
	world.google.gmail.bodies = 'asSent';
	const head = 'Content-Type: text/plain; charset=windows-1252\r\n\r\n';
	const raw = Buffer.from(`${head}\u0093for 5 \u0080\u0094`, 'latin1');
	const read = {
		resource: 'mail',
		operation: 'read',
		messageId: world.google.gmail.seed({ raw }),
	};
	const [ended] = await runBuilt('Workspace', [world.describeRun({ inputs: [read] })]);
	await world.close();
	expect(ended?.items).toMatchObject([{ text: '“for 5 €”' }]);
});

test('Agent Execute waits for its messages', async () => {
	const [ended] = await runBuilt('AgentExecute', [
		{
			credentials: credentials(),
			authenticate: { agentApi: { 'x-api-key': apiKey } },
			parameters: {
				startStepName: 'start',
				task: 'Say hello',
				sessionId: 's1',
				waitForMessages: true,
				waitUntil: 'match',
				matchField: 'type',
				matchValue: 'done',
			},
		},
	]);
	expect(ended?.items).toMatchObject([{ messages: [{ message: { type: 'done' } }] }]);
});

test('a published trigger gives out what the agent sends', async () => {
	const trigger = startScript(
		'publishedTrigger.cjs',
		[stage.fileOf('AgentSessionTrigger'), stage.folder, JSON.stringify(credentials())],
		execPath,
	);
	children.push(trigger);
	while (service.countOpenChannels() === 0)
		await new Promise((resolve) => setTimeout(resolve, 20));
	const emitted = once(trigger, 'message');
	service.send('s1', 'good morning');
	expect(await emitted).toMatchObject([{ emitted: ['good morning'] }, undefined]);
});
