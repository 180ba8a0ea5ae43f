import { randomUUID } from 'node:crypto';

import { connectInRow, items, manualTrigger, node } from '../n8n/nodes.ts';
import type { Execution, N8nApi, NodeItem } from '../n8n/n8nApi.ts';
import { factsOf, type Fact } from './facts.ts';
import { GoogleAccount } from './googleAccount.ts';
import { agentSteps, type Made, type Step, workspaceSteps } from './steps.ts';
import type { LiveSettings } from './settings.ts';

interface Outcome {
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
		for (const { name } of [...agentSteps(settings), { name: triggerName }])
			skip(name, 'no agent credentials');
	}

	let facts: readonly Fact[] = [];
	const to = settings.to ?? (await account?.emailAddress());
	const known: Record<string, unknown> = { prefix, to };
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
		const tokens = { access_token: account.accessToken, refresh_token: refreshToken };
		const oauthTokenData = { ...tokens, token_type: 'Bearer' };
		await create('workspaceOAuth2Api', { driveAccess: 'allFiles', ...fields, oauthTokenData });
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
	const { name, type } = step;
	const nodes = [
		manualTrigger(),
		items('Input', [step.input ?? {}]),
		node('Step', `n8n-nodes-agent-workspace.${type}`, step.parameters(known), { credentials }),
	];
	const connections = connectInRow('Start', 'Input', 'Step');
	const execution = await api.runOnce({ name, nodes, connections });
	const output = execution.resultData.runData.Step?.at(-1)?.data?.main?.[0] ?? [];
	const found = output.map(({ json }) => json);
	const remark = remarkOf(execution) ?? step.check?.(found, known);
	return { outcome: buildOutcome(name, start, remark), output };
}

/** @param remark what went wrong; undefined if nothing did */
function buildOutcome(name: string, start: number, remark: string | undefined): Outcome {
	const milliseconds = Math.round(performance.now() - start);
	const result = remark === undefined ? 'done' : 'failed';
	return { name, result, remark: remark ?? '', milliseconds };
}

function remarkOf({ status, resultData: { error } }: Execution): string | undefined {
	if (status === 'success') return undefined;
	return [error?.message ?? status, error?.description].filter(Boolean).join(' ');
}

const patienceMilliseconds = 120_000;
const triggerName = 'Agent Session Trigger';

/** Publishes a trigger, starts an agent in its session, and waits for what the agent sends. */
async function runTrigger(
	api: N8nApi,
	{ startStepName = 'start', task = 'Say hello.' }: LiveSettings,
	credentials: Credentials,
): Promise<Outcome> {
	const start = performance.now();
	const sessionId = randomUUID();
	const own = (name: string, type: string, parameters: Record<string, unknown>) =>
		node(name, `n8n-nodes-agent-workspace.${type}`, parameters, { credentials });
	const agent = own('Agent', 'agentExecute', { sessionId, startStepName, task });
	const trigger = own('Trigger', 'agentSessionTrigger', { sessionIds: sessionId });
	const outcome = (remark: string | undefined) => buildOutcome(triggerName, start, remark);
	const workflow = await api.createWorkflow({
		name: triggerName,
		nodes: [manualTrigger(), agent, trigger, node('Done', 'n8n-nodes-base.noOp')],
		connections: { ...connectInRow('Start', 'Agent'), ...connectInRow('Trigger', 'Done') },
	});
	await api.activate(workflow);
	try {
		// Only the service knows when the channel is open; n8n publishes without waiting for it.
		await new Promise((resolve) => setTimeout(resolve, 2000));
		const remark = remarkOf(await api.run(workflow, 'Start'));
		if (remark !== undefined) return outcome(remark);
		const patience = { timeoutMilliseconds: patienceMilliseconds };
		return outcome(remarkOf(await api.untilTriggered(workflow, undefined, patience)));
	} catch (error) {
		return outcome(error instanceof Error ? error.message : String(error));
	} finally {
		await api.deactivate(workflow);
	}
}
