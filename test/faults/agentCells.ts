import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { startAgentService } from '../../dev/agent-service/server.ts';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { turns } from '../turns';
import { type Cell, type Outcome, limits } from './cells';
import { readClaim, findLie } from './claim';
import type { ListedFault } from './faultList';

const sessionId = 'session-1';

const waiting = {
	waitForMessages: true,
	waitUntil: 'match',
	matchField: 'type',
	matchValue: 'done',
};

export const agentSubjects: Readonly<Record<string, IDataObject>> = {
	'Agent Execute': {},
	'Agent Execute, waiting for messages': waiting,
};

/** Each fault at the one request of Agent Execute. */
export function agentCells(faults: readonly ListedFault[]): Cell[] {
	return Object.entries(agentSubjects).flatMap(([subject, parameters]) =>
		faults.flatMap(({ name, agent, stays, isSlow }) => {
			if (!agent) return [];
			const run = (seconds: number) => outcomeOf(parameters, agent, stays, seconds);
			return [{ subject, request: 'execute', fault: name, isSlow: isSlow === true, run }];
		}),
	);
}

async function outcomeOf(
	parameters: IDataObject,
	step: NonNullable<ListedFault['agent']>,
	stays: ListedFault['stays'],
	timeoutSeconds: number,
): Promise<Outcome> {
	const service = await startAgentService({
		apiKey,
		execute: () => (stays ? step : undefined),
		messages: () => [{ type: 'done' }],
	});
	try {
		if (!stays) service.script(step);
		const options = {
			timeLimits: { limits: { ...limits, timeoutSeconds } },
			waitTimeoutSeconds: 20,
		};
		const ended = await runExecute(service, {
			parameters: { sessionId, ...parameters, options },
		}).then(
			() => undefined,
			(error: unknown) => error as NodeApiError,
		);
		await turns(20);
		const times = service.sessions.get(sessionId)?.executions ?? 0;
		// A request that is reset before it is read is a connection alone.
		const requests = Math.max(
			service.requests.length,
			service.connections - service.upgrades.length,
		);
		if (!ended) {
			const lie =
				times === 1 ? undefined : times > 1 ? 'done twice' : 'a success that was not done';
			return { message: '', claim: 'done', requests, times, lie };
		}
		const claim = readClaim(ended);
		const message = ended.message.replaceAll(new URL(service.url).host, 'the agent service');
		return { message, claim, requests, times, lie: findLie(claim, times) };
	} finally {
		await service.close();
	}
}
