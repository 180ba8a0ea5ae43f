import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeApiError } from 'n8n-workflow';

import { startAgentService } from '../../dev/agent-service/server.ts';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import type { Cell, Outcome } from './cells';
import { limits } from './cells';
import { claimOf, lieOf } from './claim';
import { timeoutSeconds, type ListedFault } from './faultList';

const sessionId = 'session-1';

/** Each fault at the one request of Agent Execute. */
export function agentCells(faults: readonly ListedFault[]): Cell[] {
	return faults.flatMap(({ name, agent, stays, isSlow }) => {
		if (!agent) return [];
		const run = () => outcomeOf(agent, stays, isSlow);
		return [{ subject: 'Agent Execute', request: 'execute', fault: name, run }];
	});
}

async function outcomeOf(
	step: NonNullable<ListedFault['agent']>,
	stays: ListedFault['stays'],
	isSlow: ListedFault['isSlow'],
): Promise<Outcome> {
	const service = await startAgentService({ apiKey, execute: () => (stays ? step : undefined) });
	try {
		if (!stays) service.script(step);
		const options = { ...limits, timeoutSeconds: isSlow ? timeoutSeconds : 120 };
		const ended = await runExecute(service, { parameters: { sessionId, options } }).then(
			() => undefined,
			(error: unknown) => error as NodeApiError,
		);
		await sleep(20);
		const times = service.sessions.get(sessionId)?.executions ?? 0;
		// A request that is reset before it is read is a connection alone.
		const requests = Math.max(service.requests.length, service.connections);
		if (!ended) {
			const lie = times === 1 ? undefined : times > 1 ? 'done twice' : 'a success that was not done';
			return { message: '', claim: 'done', requests, times, lie };
		}
		const claim = claimOf(ended);
		const message = ended.message.replaceAll(new URL(service.url).host, 'the agent service');
		return { message, claim, requests, times, lie: lieOf(claim, times) };
	} finally {
		await service.close();
	}
}
