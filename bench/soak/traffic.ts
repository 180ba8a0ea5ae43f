import { setTimeout as pause } from 'node:timers/promises';

import { controlPath, session, type World } from './world.ts';

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
export async function trafficOf(
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
export function doubled({ agent, google }: World): number {
	const started = [...agent.sessions.values()].filter(({ executions }) => executions > 1).length;
	const subjects = google.gmail.sent.map(({ raw }) => /^Subject: (.*)$/im.exec(raw.toString('latin1'))?.[1]);
	return started + subjects.length - new Set(subjects).size;
}

/** How many of our messages led to an agent that was started, and to an email that was sent. */
export function reached({ agent, google }: World): { readonly agents: number; readonly emails: number } {
	const isStarted = ([id, { executions }]: readonly [string, { readonly executions: number }]) =>
		id.startsWith('ours ') && executions > 0;
	return {
		agents: [...agent.sessions].filter(isStarted).length,
		emails: google.gmail.sent.filter(({ raw }) => raw.includes('Subject: ours ')).length,
	};
}
