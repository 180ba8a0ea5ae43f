import { buildSignedInCredential } from '../../dev/google/credential.ts';
import { startGoogle, type GoogleServer } from '../../dev/google/server.ts';
import { node } from '../../dev/n8n/nodes.ts';
import type { N8nApi } from '../../dev/n8n/n8nApi.ts';
import {
	countEnded,
	createCredentials,
	publishWebhook,
	type Step,
	until,
	workspaceStep,
} from '../n8n.ts';
import { reportRatio, row, say } from '../report.ts';
import type { Cluster } from './cluster.ts';

const racing = 10;

/** Ten executions find the same access token expired, on several workers. */
export async function refreshRace(cluster: Cluster): Promise<void> {
	const google = await startGoogle({ tolerant: true, latencyMilliseconds: 200 });
	try {
		const { api } = cluster.main;
		say(`\n${racing} executions at once find the same token expired (2 workers)`);
		const publish = async (name: string, step: Step) =>
			await race(api, google, await publishWebhook(api, name, [step]));
		const control = await publish('refresh-control', await controlStep(api, google));
		const ours = await publish('refresh-ours', await ourStep(api, google));
		for (const [name, { refreshes, failed }] of Object.entries({
			'HTTP Request node (n8n)': control,
			Workspace: ours,
		})) {
			row(`  ${name}`, `${refreshes} refreshes, ${failed} of ${racing} executions failed`);
		}
		reportRatio('racing a refresh: executions of Workspace that failed', ours.failed, {
			atMost: 0,
		});
		reportRatio(
			'racing a refresh: refreshes of Workspace / HTTP Request',
			ours.refreshes / Math.max(1, control.refreshes),
			{ atMost: 1 },
		);
	} finally {
		await google.close();
	}
}

const issueTokens = ({ tokens }: GoogleServer) => {
	return { accessToken: tokens.issue(), refreshToken: tokens.issueRefresh() };
};

async function ourStep(api: N8nApi, google: GoogleServer) {
	const workspaceOAuth2Api = buildSignedInCredential(google.url, issueTokens(google));
	const credentials = await createCredentials(api, { workspaceOAuth2Api });
	return workspaceStep({ operation: 'list', maxResults: 1 }, credentials);
}

async function controlStep(api: N8nApi, google: GoogleServer) {
	const { oauthTokenData } = buildSignedInCredential(google.url, issueTokens(google));
	const oAuth2Api = await api.createCredential('oAuth2Api', 'Google', {
		grantType: 'authorizationCode',
		authUrl: `${google.url}/o/oauth2/v2/auth`,
		accessTokenUrl: `${google.url}/token`,
		clientId: 'stand-in-client',
		clientSecret: 'stand-in-secret',
		scope: '',
		authentication: 'body',
		oauthTokenData,
	});
	const parameters = {
		url: `${google.url}/gmail/v1/users/me/messages?maxResults=1`,
		authentication: 'genericCredentialType',
		genericAuthType: 'oAuth2Api',
		options: {},
	};
	return node('Step', 'n8n-nodes-base.httpRequest', parameters, {
		typeVersion: 4.2,
		credentials: { oAuth2Api },
	});
}

async function race(
	api: N8nApi,
	google: GoogleServer,
	stored: Readonly<Record<'id' | 'name' | 'url', string>>,
) {
	const ended = (status: string) => countEnded(api, stored.id, status);
	const post = async () => {
		const options = { method: 'POST', headers: { connection: 'close' } };
		const answer = await fetch(stored.url, options);
		if (!answer.ok) throw new Error(`${stored.name}: ${answer.status} ${await answer.text()}`);
	};
	await post();
	const allOf = async (count: number) => {
		const isOver = async () => (await ended('success')) + (await ended('error')) >= count;
		await until(`${count} executions of ${stored.name}`, isOver, { everyMilliseconds: 200 });
	};
	await allOf(1);
	if ((await ended('error')) > 0) throw new Error(`${stored.name}: the first execution failed`);
	google.tokens.expire();
	const before = google.requests.length;
	await Promise.all(Array.from({ length: racing }, post));
	await allOf(racing + 1);
	const refreshes = google.requests
		.slice(before)
		.filter(({ method }) => method === 'oauth.token').length;
	return { refreshes, failed: await ended('error') };
}
