// The package is updated on disk while a trigger is published: the files that it came from are gone, and it goes on.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';

import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { signer } from '../Agent/AgentExecute/executeRun';
import { Stage, startScript } from './built';

const stage = new Stage();
let service: AgentService;
let n8n: ChildProcess | undefined;

beforeAll(async () => {
	stage.build();
	service = await startAgentService();
});

afterAll(async () => {
	n8n?.kill();
	stage.remove();
	await service.close();
});

const until = async (condition: () => boolean) => {
	while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
};

test('a published trigger opens its channel again when the package was updated meanwhile', async () => {
	const { url, webSocketUrl, apiKey } = service;
	const credentials = {
		agentApi: { deploymentUrl: url, webSocketUrl, apiKey },
		agentSignatureApi: { allowedHosts: '', ...signer },
	};
	n8n = startScript('publishedTrigger.cjs', [
		stage.fileOf('AgentSessionTrigger'),
		stage.folder,
		JSON.stringify(credentials),
	]);
	await until(() => service.countOpenChannels() === 1);

	n8n.send('unload');
	await once(n8n, 'message');
	rmSync(stage.dist, { recursive: true });
	service.dropChannels();
	await until(() => service.countOpenChannels() === 0);
	await until(() => service.countOpenChannels() === 1);

	const emitted = once(n8n, 'message');
	service.send('s1', 'after the update');
	expect(await emitted).toMatchObject([{ emitted: ['after the update'] }, undefined]);
});
