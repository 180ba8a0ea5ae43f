import type { IDataObject } from 'n8n-workflow';

import { startAgentService } from '../../dev/agent-service/server.ts';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { turns } from '../turns';
import { type Cell, limits, type Outcome } from './cells';
import { findLie, lieOfSuccess, readClaim, toEnd } from './claim';
import type { ListedFault } from './faultList';

const sessionId = 'session-1';

const end = { waitUntil: 'match', matchField: 'type', matchValue: 'done' };
const waiting = { waitForMessages: true, ...end };

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
		const timeLimits = { limits: { ...limits, timeoutSeconds } };
		const options = { timeLimits, waitTimeoutSeconds: 20 };
		const run = runExecute(service, { parameters: { sessionId, ...parameters, options } });
		const ended = await toEnd(run);
		await turns(20);
		const times = service.sessions.get(sessionId)?.executions ?? 0;
		// A request that is reset before it is read is a connection alone.
		const { connections, upgrades } = service;
		const requests = Math.max(service.requests.length, connections - upgrades.length);
		if ('items' in ended)
			return { message: '', claim: 'done', requests, times, lie: lieOfSuccess(times) };
		const claim = readClaim(ended.error);
		const message = ended.error.message.replaceAll(
			new URL(service.url).host,
			'the agent service',
		);
		return { message, claim, requests, times, lie: findLie(claim, times) };
	} finally {
		await service.close();
	}
}
