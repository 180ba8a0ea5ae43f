// Traffic with faults for a long time: first a control workflow of n8n's own nodes, then the session trigger,
// Agent Execute and Workspace, in the same n8n. The heap must not grow more than with the control, and handles
// must stay as many.
// node bench/soak.ts [minutes]
import { type AgentService, startAgentService } from '../dev/agent-service/server.ts';
import { buildSignedInCredential } from '../dev/google/credential.ts';
import { type GoogleServer, startGoogle } from '../dev/google/server.ts';
import { node } from '../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import { Inspector } from './inspector.ts';
import {
	apiKey,
	benchN8n,
	createAgentCredentials,
	createCredentials,
	issueTokens,
	pause,
	publishInRow,
	publishWebhook,
	sessionTrigger,
	until,
} from './n8n.ts';
import { median, reportRatio, say } from './report.ts';

const minutes = Number(process.argv[2] ?? 20);
const turnSeconds = 20;
/** The first of each kind is not judged: it loads what is needed. A verdict takes two more. */
const leastTurns = 3;

async function main(): Promise<void> {
	if (!(minutes > 0)) throw new Error('node bench/soak.ts [minutes]');
	const world = await startWorld();
	try {
		const inspector = await Inspector.open(world.n8n);
		const samples: Record<'ours' | 'control', Sample[]> = { ours: [], control: [] };
		for (const kind of ['control', 'ours'] as const) {
			const end = performance.now() + (minutes / 2) * 60_000;
			const taken = samples[kind];
			let executions = 0;
			while (performance.now() < end || taken.length < leastTurns) {
				executions += await sendTraffic(kind, world);
				const sample = await takeSample(inspector, executions);
				taken.push(sample);
				say(
					`${kind}, turn ${taken.length}: heap ${(sample.heapKibibytes / 1024).toFixed(1)} MiB, ${sample.handles} handles, ${executions} executions`,
				);
			}
		}
		inspector.close();
		const judged = { ours: samples.ours.slice(1), control: samples.control.slice(1) };
		const { netKibibytesPerExecution, limitKibibytesPerExecution, moreHandles } = judge(judged);
		reportRatio('heap per execution, ours minus the control (KiB)', netKibibytesPerExecution, {
			atMost: Math.round(limitKibibytesPerExecution * 10) / 10,
		});
		reportRatio('fewest handles in the later half, beyond the earlier half', moreHandles, {
			atMost: 3,
		});
		const executed = samples.ours.at(-1)?.executions ?? 0;
		// A message that is sent to a channel that is breaking never arrives.
		reportRatio('agents started per message', countStarted(world) / executed, {
			atLeast: 0.95,
		});
		reportRatio('agents started or emails sent twice', countDoubled(world), { atMost: 0 });
	} finally {
		await world.close();
	}
}

/** n8n closes idle connections after 5 s, and retries of faults end before that. */
const quietMilliseconds = 10_000;

interface Sample {
	/** After garbage collection. */
	readonly heapKibibytes: number;
	/** Sockets, timers, files: everything that keeps a process alive. */
	readonly handles: number;
	/** Executions of this kind so far. */
	readonly executions: number;
}

async function takeSample(inspector: Inspector, executions: number): Promise<Sample> {
	await pause(quietMilliseconds);
	const { heapUsed } = await inspector.memory();
	const handles = await inspector.evaluate<number>('process.getActiveResourcesInfo().length');
	return { heapKibibytes: heapUsed / 1024, handles, executions };
}

const noiseKibibytes = 2 * 1024;

/** @param ours after each turn, at least two; so is `control` */
function judge({ ours, control }: Readonly<Record<'ours' | 'control', readonly Sample[]>>) {
	const executions = (ours.at(-1)?.executions ?? 0) - (ours[0]?.executions ?? 0);
	const half = Math.ceil(ours.length / 2);
	return {
		netKibibytesPerExecution: slopeOf(ours) - slopeOf(control),
		// What no leak exceeds, with room for noise in a short run.
		limitKibibytesPerExecution: Math.max(1, noiseKibibytes / executions),
		moreHandles: fewestHandles(ours.slice(half)) - fewestHandles(ours.slice(0, half)),
	};
}

/** Kibibytes per execution: the median of the slopes between all pairs, which a few odd samples do not move. */
function slopeOf(samples: readonly Sample[]): number {
	const slopes = samples.flatMap((earlier, n) =>
		samples
			.slice(n + 1)
			.map(
				(later) =>
					(later.heapKibibytes - earlier.heapKibibytes) /
					(later.executions - earlier.executions),
			),
	);
	return median(slopes);
}

/** Timers and connections come and go: what leaks is still there when the fewest are. */
const fewestHandles = (samples: readonly Sample[]) =>
	Math.min(...samples.map(({ handles }) => handles));

const session = 'soak';
const controlPath = 'soak-control';

/** An n8n with one workflow of our nodes and one of n8n's own that does the same, and the stand-ins of both. */
interface World {
	readonly n8n: RestartableN8n;
	readonly agent: AgentService;
	readonly google: GoogleServer;
	close(): Promise<void>;
}

async function startWorld(): Promise<World> {
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
	await until('the channel', () => agent.countOpenChannels(session) === 1);
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

const goOn = { onError: 'continueRegularOutput' };

/** Message → agent → email → list. A failed item goes on, so that each execution uses every node. */
async function publishOurs(
	{ api }: RestartableN8n,
	agent: AgentService,
	google: GoogleServer,
): Promise<void> {
	const credentials = {
		...(await createAgentCredentials(api, agent)),
		...(await createCredentials(api, {
			workspaceOAuth2Api: buildSignedInCredential(google.url, issueTokens(google)),
		})),
	};
	const type = (name: string) => `n8n-nodes-agent-workspace.${name}`;
	const id = '$("Trigger").first().json.message.id';
	const more = { credentials, ...goOn };
	const nodes = [
		sessionTrigger(session, credentials),
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
	await publishInRow(api, 'ours', nodes);
}

/** The same requests by the HTTP Request node. */
async function publishControl(
	{ api }: RestartableN8n,
	{ url }: AgentService,
	google: GoogleServer,
): Promise<void> {
	const { accessToken } = issueTokens(google);
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
		http('Agent', key, { ...post, url: `${url}/execute`, jsonBody: call }),
		http('Send', bearer, { ...post, url: `${gmail}/send`, jsonBody: mail }),
		http('List', bearer, { url: `${gmail}?maxResults=5` }),
	];
	await publishWebhook(api, controlPath, nodes);
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

let sent = 0;

/** A turn of traffic, with the same faults for both kinds. @returns the number of executions asked for */
async function sendTraffic(
	kind: 'ours' | 'control',
	{ agent, google, n8n }: World,
): Promise<number> {
	const end = performance.now() + turnSeconds * 1000;
	let asked = 0;
	for (let round = 0; performance.now() < end; round++) {
		const id = `${kind} ${++sent}`;
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
			if (agent.countOpenChannels(session) > 0 && agent.send(session, { id }) > 0) asked++;
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
function countDoubled({ agent, google }: World): number {
	const started = [...agent.sessions.values()].filter(({ executions }) => executions > 1).length;
	const subjects = google.gmail.sent.map(
		({ raw }) => /^Subject: (.*)$/im.exec(raw.toString('latin1'))?.[1],
	);
	return started + subjects.length - new Set(subjects).size;
}

/** How many of our messages led to an agent that was started. */
function countStarted({ agent }: World): number {
	const ours = [...agent.sessions].filter(([id]) => id.startsWith('ours '));
	return ours.filter(([, { executions }]) => executions > 0).length;
}

await main();
