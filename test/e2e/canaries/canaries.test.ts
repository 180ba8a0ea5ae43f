import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type AgentService, startAgentService } from '../../../dev/agent-service/server.ts';
import { buildEndpoints, buildSignedInCredential } from '../../../dev/google/credential.ts';
import { items, manualTrigger, node, useSharedN8n, type WatchedN8n } from '../startTestN8n';
import { until } from '../station';
import { agentType, inRow, triggerType, workspaceType } from '../workflows';
import { databaseDump, type Evidence, findCanaries, writtenFiles } from './evidence';
import { callFaults, channelFaults, googleFaults, witness } from './faults';
import { startStranger, type Stranger } from './stranger';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** One in every field of a credential that is secret. */
const agent = {
	apiKey: 'apikey-canary-3f9c',
	signature: '0xcafe0123456789abcdef5151',
	userPublicKey: '0xbeef9876543210fedcba6262',
};
const user = {
	clientSecret: 'client-secret-canary-77',
	accessToken: 'ya29.access-canary-of-a-user',
	refreshToken: '1//refresh-canary-of-a-user',
};
const robot = {
	privateKey: pem.split('\n')[3] ?? '',
	robotToken: 'ya29.robot-canary-of-an-account',
	// The beginning of what is signed with the key: the same for every assertion.
	assertion: 'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9',
};
const google = { ...user, ...robot };

let service: AgentService;
let googles: Stranger;
let elsewhere: Stranger;
/** The service of a credential that is tested. */
let refusing: Stranger;
let n8n: WatchedN8n;
let own: Record<string, { id: string; name: string }>;
/** What the editor and callers are shown. */
const shown: Evidence[] = [];

beforeAll(async () => {
	elsewhere = await startStranger();
	const secrets = Object.values(agent);
	const calls = callFaults(secrets, elsewhere.url);
	const channels = channelFaults(secrets, elsewhere.url);
	const digit = (text: unknown) => Number(/(\d)$/.exec(String(text))?.[1] ?? 0);
	service = await startAgentService({
		apiKey: agent.apiKey,
		execute: ({ body }) => calls[digit((body as { sessionId: string }).sessionId)],
		upgrade: ({ query }) => channels[digit(query.sessionId)],
	});
	const ofUser = googleFaults(Object.values(user), elsewhere.url);
	const ofRobot = googleFaults(Object.values(robot), elsewhere.url);
	googles = await startStranger((request, response, path) => {
		const isRobot = request.includes('assertion=') || request.includes(robot.robotToken);
		const faults = isRobot ? ofRobot : ofUser;
		if (path === '/token' && isRobot && !request.includes('refused')) {
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify({ access_token: robot.robotToken, expires_in: 3600 }));
		} else if (path.startsWith('/token')) faults[2]?.(request, response, path);
		else faults[digit(path.split('?')[0])]?.(request, response, path);
	});
	refusing = await startStranger((request, response) => {
		response.statusCode = 401;
		response.end(request);
	});
	n8n = await useSharedN8n('watched');
	const create = (type: string, data: Record<string, unknown>) =>
		n8n.api.createCredential(type, type, data);
	const { apiKey, ...identity } = agent;
	own = {
		agentApi: await create('agentApi', {
			deploymentUrl: service.url,
			webSocketUrl: service.webSocketUrl,
			apiKey,
		}),
		agentSignatureApi: await create('agentSignatureApi', { userId: '0xa1', ...identity }),
		workspaceOAuth2Api: await create('workspaceOAuth2Api', {
			...buildSignedInCredential(googles.url, user),
			clientSecret: user.clientSecret,
		}),
		workspaceServiceAccountApi: await create('workspaceServiceAccountApi', account()),
	};
});
afterAll(async () => {
	await service.close();
	await googles.close();
	await elsewhere.close();
	await refusing.close();
});

const account = (email = 'robot@project.example') => ({
	email,
	privateKey: pem,
	driveAccess: 'allFiles',
	...buildEndpoints(googles.url),
});

/** Once with errors as items, all at once, and once so that the first stops the workflow. */
async function runAll(type: string, count: number, parameters: object, names: readonly string[]) {
	const credentials = Object.fromEntries(names.map((name) => [name, own[name]]));
	const numbers = Array.from({ length: count }, (_, n) => ({ n }));
	const cases = [
		{ values: numbers, more: { onError: 'continueRegularOutput' } },
		...numbers.map((one) => ({ values: [one], more: {} })),
	];
	for (const { values, more } of cases) {
		const last = node('Node', type, { ...parameters }, { credentials, ...more });
		const execution = await n8n.api.runOnce(
			inRow('canaries', manualTrigger(), items('Items', values), last),
		);
		shown.push({
			where: `execution with ${names.join()} ${JSON.stringify(values)}`,
			text: JSON.stringify(execution),
		});
	}
}

const agentNames = ['agentApi', 'agentSignatureApi'];
const options = { timeLimits: { limits: { maxRetryWaitSeconds: 0, timeoutSeconds: 10 } } };

test('calls that fail', async () => {
	const parameters = {
		startStepName: 'start',
		task: 'Say hello',
		sessionId: '=call-{{ $json.n }}',
		options,
	};
	await runAll(agentType, 9, parameters, agentNames);
	expect(service.requests.length).toBeGreaterThan(9);
});

test('waits for a channel that fails', async () => {
	const parameters = {
		startStepName: 'start',
		task: 'Say hello',
		sessionId: '=wait-{{ $json.n }}',
		waitForMessages: true,
		waitUntil: 'count',
		waitTimeoutSeconds: 3,
		options,
	};
	await runAll(agentType, 4, parameters, agentNames);
	expect(service.upgrades.length).toBeGreaterThan(4);
});

test('a trigger whose channels fail', async () => {
	const { agentApi, agentSignatureApi } = own;
	const sessions = [0, 1, 2, 3].map((n) => `listen-${n}`).join();
	const trigger = node(
		'Trigger',
		triggerType,
		{ sessionIds: sessions, options: { connectionEvents: true } },
		{ credentials: { agentApi, agentSignatureApi } },
	);
	const stored = await n8n.api.createWorkflow(
		inRow('t', trigger, node('Done', 'n8n-nodes-base.noOp')),
	);
	await n8n.api.activate(stored);
	const failed = encodeURIComponent(JSON.stringify({ workflowId: stored.id, status: ['error'] }));
	await until(async () => {
		const { results } = await n8n.api.request<{ results: unknown[] }>(
			'GET',
			`executions?filter=${failed}`,
		);
		return results.length > 0;
	});
	await n8n.api.deactivate(stored);
});

test.each(['workspaceOAuth2Api', 'workspaceServiceAccountApi'])(
	'Google that fails: %s',
	async (name) => {
		const parameters = {
			authentication: name === 'workspaceOAuth2Api' ? 'oAuth2' : 'serviceAccount',
			resource: 'mail',
			operation: 'read',
			messageId: '=18c000000000000{{ $json.n }}',
			options: options,
		};
		await runAll(workspaceType, 8, parameters, [name]);
		expect(googles.received.length).toBeGreaterThan(8);
	},
);

test('the Test buttons of credentials that are refused', async () => {
	const { apiKey } = agent;
	const api = { deploymentUrl: refusing.url, webSocketUrl: service.webSocketUrl, apiKey };
	const refused = [
		await n8n.api.testCredential('agentApi', 'A', api),
		await n8n.api.testCredential('agentApi', 'A', {
			...api,
			deploymentUrl: 'http://127.0.0.1:1',
		}),
		await n8n.api.testCredential(
			'workspaceServiceAccountApi',
			'R',
			account('refused@project.example'),
		),
		await n8n.api.testCredential('agentSignatureApi', 'S', {
			...agent,
			userId: `${agent.signature} x`,
		}),
	];
	shown.push({ where: 'Test buttons', text: JSON.stringify(refused) });
});

/** Waits until both logs of n8n have an execution that was run after all others. */
async function untilLogged(): Promise<void> {
	const { id } = await n8n.api.runOnce(inRow('last', manualTrigger()));
	const log = path.join(n8n.userFolder, '.n8n', 'logs', 'n8n.log');
	const texts = () => [readFileSync(log, 'utf8'), n8n.output()];
	await until(() => texts().every((text) => text.includes(`"executionId":"${id}"`)));
}

test('after all that, no secret is anywhere that it was not sent to', async () => {
	await untilLogged();
	const evidence = [
		...shown,
		{ where: 'stdout and stderr', text: n8n.output() },
		...writtenFiles(n8n.userFolder),
		...databaseDump(n8n.userFolder),
	];
	const inForeignHands = [
		{
			where: 'what the agent service was sent',
			text: JSON.stringify([service.requests, service.upgrades]),
		},
	];
	expect(findCanaries(evidence, { ...agent, ...google })).toEqual([]);
	expect(findCanaries(inForeignHands, google)).toEqual([]);
	expect(
		findCanaries([{ where: 'what Google was sent', text: googles.received.join('\n') }], agent),
	).toEqual([]);
	expect(elsewhere.received).toEqual([]);
	// The search finds what is there.
	const places = evidence.filter(({ text }) => text.includes(witness)).map(({ where }) => where);
	expect(places).toEqual(
		expect.arrayContaining([
			'stdout and stderr',
			'logs/n8n.log',
			'table execution_data',
			shown[0]?.where,
		]),
	);
});
