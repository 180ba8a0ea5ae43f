// What leaves n8n: for which hosts it is, and whether the trace of an execution goes on in it.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';

import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { installedFolder } from '../../dev/n8n/installPackage.ts';
import { type Listening, onLoopback } from '../../dev/loopback.ts';
import { ConnectProxy } from '../Agent/session/connectProxy';
import { contacted, findHosts, onlyNamed } from '../hosts';
import { storeAgent, storeSignIn } from './credentials';
import { template } from './globalSetup';
import { manualTrigger, node, useSharedN8n, type WatchedN8n } from './startTestN8n';
import { until } from './station';
import { agentType, inRow, workspaceType } from './workflows';

test('the package that is installed, with all its libraries, names no host that the code does not', () => {
	const hosts = findHosts(installedFolder(template.folder), ['dist'], /\.(js|json)$/);
	// The schema of the list of what is in the bundle.
	const named = [...contacted, ...onlyNamed, 'cyclonedx.org'];
	expect(hosts.filter((host) => !named.includes(host))).toEqual([]);
	expect(hosts).toEqual(expect.arrayContaining(contacted));
});

const portOf = (url = '') => Number(new URL(url).port);

describe('all that the package asks of anybody', () => {
	const proxy = new ConnectProxy();
	let collector: Listening;
	let n8n: WatchedN8n;
	/** What n8n exports, in OTLP's binary form. */
	const exported: Buffer[] = [];

	beforeAll(async () => {
		n8n = await useSharedN8n('watched');
		const { HTTPS_PROXY, N8N_OTEL_EXPORTER_OTLP_ENDPOINT } = n8n.env;
		proxy.behaviour = 502;
		await proxy.listen(portOf(HTTPS_PROXY));
		const server = createServer((request, response) => {
			request.on('data', (chunk: Buffer) => exported.push(chunk));
			request.on('end', () => response.end());
		});
		collector = await onLoopback(server, portOf(N8N_OTEL_EXPORTER_OTLP_ENDPOINT));
	});
	afterAll(async () => {
		await collector.close();
		await proxy.close();
	});

	async function run(
		authentication: string,
		type: string,
		data: Record<string, unknown>,
		parameters: object,
	) {
		const credentials = { [type]: await n8n.api.createCredential(type, 'W', data) };
		const options = { timeLimits: { limits: { maxRetryWaitSeconds: 0 } } };
		const given = { authentication, ...parameters, options };
		const last = node('Workspace', workspaceType, given, { credentials });
		await n8n.api.runOnce(inRow('hosts', manualTrigger(), last));
	}

	test('is for the hosts that are listed', async () => {
		const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
		const oauthTokenData = {
			access_token: 'ya29.test',
			refresh_token: 'test',
			token_type: 'Bearer',
		};
		const signedIn = {
			driveAccess: 'allFiles',
			clientId: 'c',
			clientSecret: 's',
			oauthTokenData,
		};
		const document = {
			__rl: true,
			mode: 'id',
			value: 'a-document-with-a-long-enough-id-of-44-signs',
		};
		const operations = [
			{ resource: 'mail', operation: 'list' },
			{ resource: 'spreadsheet', operation: 'create', title: 'T' },
			{ resource: 'document', operation: 'read', documentId: document },
			{
				resource: 'file',
				operation: 'upload',
				contentSource: 'text',
				content: 'x',
				name: 'a.txt',
			},
		];
		for (const one of operations) await run('oAuth2', 'workspaceOAuth2Api', signedIn, one);
		const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
		const robot = { email: 'robot@project.example', privateKey: key, driveAccess: 'allFiles' };
		await run('serviceAccount', 'workspaceServiceAccountApi', robot, operations[0] ?? {});
		const asked = new Set(proxy.asked.map((one) => new URL(`http://${one}`).hostname));
		// n8n itself asks its makers for news.
		const ours = [...asked].filter((host) => !/(^|\.)n8n\.io$/.test(host)).sort();
		// A browser goes to the sign-in page, and n8n never.
		expect(ours).toEqual(contacted);
	});

	describe('in an execution that n8n’s OpenTelemetry traces', () => {
		let service: AgentService;
		let google: GoogleServer;

		beforeAll(async () => {
			service = await startAgentService();
			google = await startGoogle();
		});
		afterAll(async () => {
			await google.close();
			await service.close();
		});

		test('has its trace in the call of the agent and in those of Google, not in the channel', async () => {
			const ofAgent = await storeAgent(n8n.api, service);
			const ofGoogle = await storeSignIn(n8n.api, google);
			const agent = {
				startStepName: 'start',
				task: 'Say hello',
				waitForMessages: true,
				waitUntil: 'match',
				matchField: 'type',
				matchValue: 'answer',
			};
			const list = { resource: 'mail', operation: 'list' };
			const { status } = await n8n.api.runOnce(
				inRow(
					'traced',
					manualTrigger(),
					node('Agent', agentType, agent, { credentials: ofAgent }),
					node('Mails', workspaceType, list, { credentials: ofGoogle }),
				),
			);
			expect(status).toBe('success');

			const { headers: call } = service.requests[0] ?? {};
			const [, trace = '', span = ''] =
				/^00-(\w{32})-(\w{16})-01$/.exec(String(call?.traceparent)) ?? [];
			const listed = google.requests.map(({ headers }) => String(headers.traceparent));
			expect(listed.filter((parent) => parent.startsWith(`00-${trace}-`))).not.toEqual([]);
			expect(service.upgrades[0]?.headers.traceparent).toBeUndefined();
			// The parent of the call is the span of the node.
			const isExported = (id: string) =>
				Buffer.concat(exported).includes(Buffer.from(id, 'hex'));
			await until(() => isExported(trace) && isExported(span));
		});
	});
});
