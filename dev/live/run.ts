import { randomUUID } from 'node:crypto';

import { connectInRow, items, manualTrigger, node } from '../n8n/nodes.ts';
import type { Execution, N8nApi, NodeItem } from '../n8n/n8nApi.ts';
import { factsOf, type Fact } from './facts.ts';
import { GoogleAccount } from './googleAccount.ts';
import { agentSteps, type Made, type Step, workspaceSteps } from './steps.ts';
import type { LiveSettings } from './settings.ts';

export interface Outcome {
	readonly name: string;
	readonly result: 'done' | 'failed' | 'not run';
	/** The error, or why it was not run. */
	readonly remark: string;
	readonly milliseconds: number;
}

export interface LiveReport {
	readonly outcomes: readonly Outcome[];
	readonly facts: readonly Fact[];
	readonly made: readonly Made[];
	/** Begins the name of everything that was made. */
	readonly prefix: string;
}

type Credentials = Readonly<Record<string, { readonly id: string; readonly name: string }>>;

/** Runs everything for which there are accounts. A failure does not stop the rest. */
export async function runLive(
	api: N8nApi,
	settings: LiveSettings,
	say: (text: string) => void = () => undefined,
): Promise<LiveReport> {
	const prefix = `n8n live test ${new Date().toISOString().slice(0, 19)}`;
	const outcomes: Outcome[] = [];
	const made: Made[] = [];
	const record = (outcome: Outcome) => {
		outcomes.push(outcome);
		say(
			`  ${outcome.result.padEnd(8)} ${outcome.name}${outcome.remark === '' ? '' : `: ${outcome.remark}`}`,
		);
	};
	const skip = (name: string, remark: string) => {
		record({ name, result: 'not run', remark, milliseconds: 0 });
	};
	const account =
		settings.workspaceOAuth2Api && (await GoogleAccount.signIn(settings.workspaceOAuth2Api));
	const credentials = await createCredentials(api, settings, account);

	if (credentials.agentApi && credentials.agentSignatureApi) {
		for (const step of agentSteps(settings))
			record((await runStep(api, step, {}, credentials)).outcome);
		record(await runTrigger(api, settings, credentials));
	} else {
		for (const name of [
			'Agent Execute',
			'Agent Execute with Wait for Messages',
			'Agent Session Trigger',
		])
			skip(name, 'no agent credentials');
	}

	let facts: readonly Fact[] = [];
	const known: Record<string, unknown> = {
		prefix,
		to: settings.to ?? (await account?.emailAddress()),
	};
	for (const step of workspaceSteps(prefix)) {
		const missing = step.needs.find((name) => known[name] === undefined);
		if (account === undefined) skip(step.name, 'no Google credentials');
		else if (missing !== undefined)
			skip(step.name, `an earlier operation did not return ${missing}`);
		else {
			const { outcome, output } = await runStep(api, step, known, credentials);
			record(outcome);
			if (outcome.result === 'done') {
				Object.assign(known, step.learns?.(output));
				made.push(...(step.made?.(output) ?? []));
			}
		}
	}
	if (account) {
		say('Asking Google what is not known for certain …');
		facts = await factsOf(account, prefix, made);
	}
	return { outcomes, facts, made, prefix };
}

async function createCredentials(
	api: N8nApi,
	{ agentApi, agentSignatureApi, workspaceOAuth2Api }: LiveSettings,
	account: GoogleAccount | undefined,
): Promise<Credentials> {
	const credentials: Record<string, { id: string; name: string }> = {};
	const create = async (type: string, data: Record<string, unknown>) => {
		credentials[type] = await api.createCredential(type, `Live ${type}`, data);
	};
	if (agentApi) await create('agentApi', { ...agentApi });
	if (agentSignatureApi) await create('agentSignatureApi', { ...agentSignatureApi });
	if (workspaceOAuth2Api && account) {
		const { refreshToken, ...fields } = workspaceOAuth2Api;
		await create('workspaceOAuth2Api', {
			driveAccess: 'allFiles',
			...fields,
			oauthTokenData: {
				access_token: account.accessToken,
				refresh_token: refreshToken,
				token_type: 'Bearer',
			},
		});
	}
	return credentials;
}

async function runStep(
	api: N8nApi,
	step: Step,
	known: Readonly<Record<string, unknown>>,
	credentials: Credentials,
): Promise<{ outcome: Outcome; output: readonly NodeItem[] }> {
	const start = performance.now();
	const nodes = [
		manualTrigger(),
		items('Input', [step.input ?? {}]),
		node('Step', `n8n-nodes-agent-workspace.${step.type}`, step.parameters(known), {
			credentials,
		}),
	];
	const definition = {
		name: step.name,
		nodes,
		connections: connectInRow('Start', 'Input', 'Step'),
	};
	const execution = await api.runOnce(definition);
	const output = execution.resultData.runData.Step?.at(-1)?.data?.main?.[0] ?? [];
	const remark =
		remarkOf(execution) ??
		step.check?.(
			output.map(({ json }) => json),
			known,
		) ??
		'';
	const milliseconds = Math.round(performance.now() - start);
	return {
		outcome: {
			name: step.name,
			result: remark === '' ? 'done' : 'failed',
			remark,
			milliseconds,
		},
		output,
	};
}

function remarkOf({ status, resultData: { error } }: Execution): string | undefined {
	if (status === 'success') return undefined;
	return [error?.message ?? status, error?.description ?? '']
		.filter((part) => part !== '')
		.join(' ');
}

const patienceMilliseconds = 30_000;

/** Publishes a trigger, starts an agent in its session, and waits for what the agent sends. */
async function runTrigger(
	api: N8nApi,
	{ startStepName = 'start', task = 'Say hello.' }: LiveSettings,
	credentials: Credentials,
): Promise<Outcome> {
	const name = 'Agent Session Trigger';
	const start = performance.now();
	const sessionId = randomUUID();
	const agent = node(
		'Agent',
		'n8n-nodes-agent-workspace.agentExecute',
		{ sessionId, startStepName, task },
		{ credentials },
	);
	const trigger = node(
		'Trigger',
		'n8n-nodes-agent-workspace.agentSessionTrigger',
		{ sessionIds: sessionId },
		{ credentials },
	);
	const outcome = (result: Outcome['result'], remark: string): Outcome => ({
		name,
		result,
		remark,
		milliseconds: Math.round(performance.now() - start),
	});
	const workflow = await api.createWorkflow({
		name,
		nodes: [manualTrigger(), agent, trigger, node('Done', 'n8n-nodes-base.noOp')],
		connections: { ...connectInRow('Start', 'Agent'), ...connectInRow('Trigger', 'Done') },
	});
	await api.activate(workflow);
	try {
		// Only the service knows when the channel is open; n8n publishes without waiting for it.
		await new Promise((resolve) => setTimeout(resolve, 2000));
		const remark = remarkOf(await api.run(workflow, 'Start'));
		if (remark !== undefined) return outcome('failed', remark);
		const triggered = await api.untilTriggered(workflow, undefined, {
			timeoutMilliseconds: patienceMilliseconds,
		});
		const failure = remarkOf(triggered);
		return failure === undefined ? outcome('done', '') : outcome('failed', failure);
	} catch (error) {
		return outcome('failed', error instanceof Error ? error.message : String(error));
	} finally {
		await api.deactivate(workflow);
	}
}
