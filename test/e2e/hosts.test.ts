import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';

import { ConnectProxy } from '../Agent/session/connectProxy';
import { contacted, findHosts, onlyNamed } from '../hosts';
import { template } from './globalSetup';
import { connectInRow, manualTrigger, node, startTestN8n, type TestN8n } from './startTestN8n';

test('the package that is installed, with all its libraries, names no host that the code does not', async () => {
	const installed = path.join(
		await template.copy(),
		'.n8n',
		'nodes',
		'node_modules',
		'n8n-nodes-agent-workspace',
	);
	const hosts = findHosts(installed, ['dist'], /\.(js|json)$/);
	// The schema of the list of what is in the bundle.
	const named = [...contacted, ...onlyNamed, 'cyclonedx.org'];
	expect(hosts.filter((host) => !named.includes(host))).toEqual([]);
	expect(hosts).toEqual(expect.arrayContaining(contacted));
});

describe('all that the package asks of anybody, taken by a proxy', () => {
	const proxy = new ConnectProxy();
	let n8n: TestN8n;

	beforeAll(async () => {
		proxy.behaviour = 502;
		await proxy.listen();
		const address = proxy.address();
		n8n = await startTestN8n({
			env: {
				HTTPS_PROXY: address,
				HTTP_PROXY: address,
				NO_PROXY: '127.0.0.1',
				CREDENTIALS_OVERWRITE_DATA: '{}',
			},
		});
	});
	afterAll(async () => {
		await n8n.remove();
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
		const last = node('Workspace', 'n8n-nodes-agent-workspace.workspace', given, {
			credentials,
		});
		const nodes = [manualTrigger(), last];
		await n8n.api.runOnce({
			name: 'hosts',
			nodes,
			connections: connectInRow('Start', 'Workspace'),
		});
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
});
