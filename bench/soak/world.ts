import { type AgentService, startAgentService } from '../../dev/agent-service/server.ts';
import { signedIn } from '../../dev/google/credential.ts';
import { type GoogleServer, startGoogle } from '../../dev/google/server.ts';
import { inRow, node } from '../../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../../dev/n8n/restartable.ts';
import {
	apiKey,
	benchN8n,
	createAgentCredentials,
	createCredentials,
	pause,
	until,
	untilRegistered,
} from '../n8n.ts';
import { webhook } from '../queue/lanes.ts';

const session = 'soak';
const controlPath = 'soak-control';

/** An n8n with one workflow of our nodes and one of n8n's own that does the same, and the stand-ins of both. */
export interface World {
	readonly n8n: RestartableN8n;
	readonly agent: AgentService;
	readonly google: GoogleServer;
	close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
	let calls = 0;
	const agent = await startAgentService({
		apiKey,
		latencyMilliseconds: 50,
		keepLog: false,
		// Some of the calls: a refusal that is repeated, and a reset after which nobody knows.
		execute: () => {
			calls++;
			if (calls % 10 === 0) return { status: 503, retryAfter: 1 };
			return calls % 17 === 0 ? { fault: 'resetAfterRead', carriedOut: true } : undefined;
		},
		messages: () => [],
	});
	const google = await startGoogle({ tolerant: true, latencyMilliseconds: 50 });
	const n8n = await benchN8n({
		env: {
			NODE_OPTIONS: '--inspect-port=127.0.0.1:0',
			// What n8n keeps of each execution is not what is measured.
			EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none',
			EXECUTIONS_DATA_SAVE_ON_ERROR: 'none',
		},
	});
	await publishOurs(n8n, agent, google);
	await publishControl(n8n, agent, google);
	await until('the channel', () => agent.openSockets(session) === 1);
	return {
		n8n,
		agent,
		google,
		async close() {
			await n8n.remove();
			await google.close();
			await agent.close();
		},
	};
}

const tokensOf = ({ tokens }: GoogleServer) => ({
	accessToken: tokens.issue(),
	refreshToken: tokens.issueRefresh(),
});

const goOn = { onError: 'continueRegularOutput' };

/** Message → agent → email → list. A failed item goes on, so that each execution uses every node. */
async function publishOurs(
	{ api }: RestartableN8n,
	agent: AgentService,
	google: GoogleServer,
): Promise<void> {
	const credentials = {
		...(await createAgentCredentials(api, agent)),
		...(await createCredentials(api, { workspaceOAuth2Api: signedIn(google.url, tokensOf(google)) })),
	};
	const type = (name: string) => `n8n-nodes-agent-workspace.${name}`;
	const id = '$("Trigger").first().json.message.id';
	const more = { credentials, ...goOn };
	const nodes = [
		node('Trigger', type('agentSessionTrigger'), { sessionIds: session }, { credentials }),
		node(
			'Agent',
			type('agentExecute'),
			{ sessionId: `={{ ${id} }}`, startStepName: 'start', task: 'soak' },
			more,
		),
		node(
			'Send',
			type('workspace'),
			{ operation: 'send', to: 'ann@example.com', subject: `={{ ${id} }}`, body: 'Text' },
			more,
		),
		node('List', type('workspace'), { operation: 'list', maxResults: 5 }, more),
	];
	const connections = inRow(...nodes.map(({ name }) => name));
	await api.activate(await api.createWorkflow({ name: 'ours', nodes, connections }));
}

/** The same requests by the HTTP Request node. */
async function publishControl(
	{ api }: RestartableN8n,
	{ url }: AgentService,
	google: GoogleServer,
): Promise<void> {
	const { accessToken } = tokensOf(google);
	const header = (name: string, value: string) =>
		api.createCredential('httpHeaderAuth', name, { name, value });
	const key = await header('x-api-key', apiKey);
	const bearer = await header('authorization', `Bearer ${accessToken}`);
	const id = '$("Trigger").first().json.body.id';
	const http = (name: string, httpHeaderAuth: object, parameters: object) =>
		node(
			name,
			'n8n-nodes-base.httpRequest',
			{
				authentication: 'genericCredentialType',
				genericAuthType: 'httpHeaderAuth',
				options: {},
				...parameters,
			},
			{ typeVersion: 4.2, credentials: { httpHeaderAuth }, ...goOn },
		);
	const post = { method: 'POST', sendBody: true, specifyBody: 'json' };
	const call = `={{ JSON.stringify({ sessionId: 'control ' + ${id}, startStepName: 'start', initialPayload: '{"task":"soak"}', userId: '0x01', userPublicKey: '0x02', signature: '0x03', timestamp: Date.now() }) }}`;
	const mail = `={{ JSON.stringify({ raw: ('To: ann@example.com\\r\\nSubject: control ' + ${id} + '\\r\\n\\r\\nText').base64Encode() }) }}`;
	const gmail = `${google.url}/gmail/v1/users/me/messages`;
	const nodes = [
		webhook(controlPath),
		http('Agent', key, { ...post, url: `${url}/execute`, jsonBody: call }),
		http('Send', bearer, { ...post, url: `${gmail}/send`, jsonBody: mail }),
		http('List', bearer, { url: `${gmail}?maxResults=5` }),
	];
	const connections = inRow(...nodes.map(({ name }) => name));
	await api.activate(await api.createWorkflow({ name: 'control', nodes, connections }));
	await untilRegistered(api, controlPath);
}

/** Executions a second. */
const perSecond = 4;

const googleFaults = [
	{ status: 503 },
	{ status: 429, reason: 'rateLimitExceeded' },
	{ connection: 'resetBefore' },
	{ connection: 'resetAfter' },
	{ connection: 'cutBody' },
] as const;

/** Traffic for this long, with the same faults for both kinds. @returns the number of executions asked for */
export async function sendTraffic(
	kind: 'ours' | 'control',
	world: World,
	seconds: number,
	numbers: { next: number },
): Promise<number> {
	const { agent, google, n8n } = world;
	const end = performance.now() + seconds * 1000;
	let asked = 0;
	for (let round = 0; performance.now() < end; round++) {
		const id = `${kind} ${numbers.next++}`;
		const fault = googleFaults[round % (googleFaults.length * 4)];
		if (fault) google.fault(fault);
		if (kind === 'ours') {
			// A channel that breaks, and one that is refused before it opens again. Once in a turn, because the
			// trigger waits longer for a service that does so again and again.
			if (round === 19) {
				agent.scriptUpgrades({ status: 503 });
				agent.dropChannels(session);
			}
			// A socket that was just cut is still known, but takes nothing.
			if (agent.openSockets(session) > 0 && agent.send(session, { id }) > 0) asked++;
		} else {
			const answer = await fetch(`${n8n.url}/webhook/${controlPath}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', connection: 'close' },
				body: JSON.stringify({ id }),
			});
			await answer.body?.cancel();
			if (answer.ok) asked++;
		}
		await pause(1000 / perSecond);
	}
	return asked;
}

/** How often an agent was started, or an email sent, for the same message more than once. */
export function countDoubled({ agent, google }: World): number {
	const started = [...agent.sessions.values()].filter(({ executions }) => executions > 1).length;
	const subjects = google.gmail.sent.map(({ raw }) => /^Subject: (.*)$/im.exec(raw.toString('latin1'))?.[1]);
	return started + subjects.length - new Set(subjects).size;
}

/** How many of our messages led to an agent that was started, and to an email that was sent. */
export function countReached({ agent, google }: World): { readonly agents: number; readonly emails: number } {
	const isStarted = ([id, { executions }]: readonly [string, { readonly executions: number }]) =>
		id.startsWith('ours ') && executions > 0;
	return {
		agents: [...agent.sessions].filter(isStarted).length,
		emails: google.gmail.sent.filter(({ raw }) => raw.includes('Subject: ours ')).length,
	};
}
