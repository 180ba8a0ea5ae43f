// The table of docs/turns.md: what the second turn of a session gets from servers that greet, repeat or close. `npm run docs` writes it.
import { writeFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';

import {
	type AgentServiceOptions,
	type ExecuteFields,
	startAgentService,
} from '../../dev/agent-service/server';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { withBinaryData } from '../createExecuteContext';
import { generatedPart } from './generatedPart';

interface Server {
	readonly name: string;
	readonly repeats?: number;
	readonly greets?: boolean;
	/** After each message; what is left comes when the channel is open again. */
	readonly closes?: boolean;
	readonly hasIds?: boolean;
	readonly answersEarly?: boolean;
}

const servers: readonly Server[] = [
	{ name: 'Sends only what the agent says' },
	{ name: 'Greets when the channel opens', greets: true },
	{ name: 'Repeats everything when the channel opens', repeats: 100 },
	{ name: 'Repeats the last message when the channel opens', repeats: 1 },
	{ name: 'Repeats everything, with IDs', repeats: 100, hasIds: true },
	{ name: 'Closes the channel after each message', closes: true },
	{
		name: 'Closes it after each message, repeats everything, with IDs',
		closes: true,
		repeats: 100,
		hasIds: true,
	},
	{
		name: 'Closes it after each message, repeats everything, without IDs',
		closes: true,
		repeats: 100,
	},
	{ name: 'Sends the answer before it responds to the call', answersEarly: true },
];

const agents: ReadonlyArray<{
	readonly name: string;
	says(turn: number): string[];
	readonly atOnce?: boolean;
}> = [
	{ name: 'The same text twice in a turn', says: () => ['Done', 'Done'] },
	{ name: 'The same text in each turn', says: () => ['Done'] },
	{
		name: 'An answer within 10 ms of the call',
		says: (turn) => [`Answer ${turn}`],
		atOnce: true,
	},
	{ name: 'Nothing', says: () => [] },
];

const ends = ['match', 'count', 'silence', 'close'] as const;
type End = (typeof ends)[number];

const waitOf = (end: End, says: readonly string[]): IDataObject => ({
	waitForMessages: true,
	waitUntil: end,
	matchField: 'text',
	matchValue: says[0] ?? 'never',
	messageCount: Math.max(1, says.length),
	silenceSeconds: 5,
});

/** What the second turn gets. */
async function secondTurn(
	server: Server,
	agent: (typeof agents)[number],
	end: End,
): Promise<string> {
	const left: IDataObject[] = [];
	let turn = 0;
	const isEarly = server.answersEarly === true || agent.atOnce === true;
	const deliver = (): void => {
		const [first, ...rest] = left.splice(0);
		if (first !== undefined) service.send('s1', first);
		if (server.closes === true) {
			left.push(...rest);
			if (first !== undefined) service.closeChannels(1000);
		} else if (rest.length > 0) service.send('s1', ...rest);
		if (end === 'close' && left.length === 0)
			setTimeout(() => {
				service.closeChannels(1000);
			}, 100);
	};
	const options: AgentServiceOptions = {
		apiKey,
		replay: server.repeats ?? 0,
		messages: () => [],
		execute: ({ body }) => {
			turn++;
			const { sessionId } = body as ExecuteFields;
			left.push(
				...agent
					.says(turn)
					.map((text, n) => ({ id: `${sessionId} ${turn} ${n}`, turn, text })),
			);
			if (isEarly) deliver();
			else setTimeout(deliver, 50);
			return { delayMilliseconds: isEarly ? 30 : 0 };
		},
		upgrade: () => {
			const [next] = left.splice(0, 1);
			if (next !== undefined)
				setTimeout(() => {
					service.send('s1', next);
					if (left.length > 0 || end === 'close') service.closeChannels(1000);
				}, 30);
			return server.greets === true ? { messages: [{ text: 'Hello' }] } : {};
		},
	};
	const service = await startAgentService(options);
	const says = agent.says(2);
	try {
		const parameters = (wait: IDataObject) => ({
			sessionId: 's1',
			...wait,
			options: {
				waitTimeoutSeconds: says.length === 0 && end !== 'close' ? 1.5 : 60,
				...(server.hasIds === true && { deduplicationField: 'id' }),
			},
		});
		await runExecute(service, {
			parameters: parameters(waitOf(end, agent.says(1))),
			node: { onError: 'continueRegularOutput' },
		});
		const [item] = await runExecute(service, {
			parameters: parameters(waitOf(end, says)),
			node: { onError: 'continueRegularOutput' },
		});
		// The first match ends the wait, and so does the first close.
		const isOne = end === 'match' || (end === 'close' && server.closes === true);
		return described(item?.json ?? {}, isOne ? says.slice(0, 1) : says);
	} finally {
		await service.close();
	}
}

function described(json: IDataObject, says: readonly string[]): string {
	const { error } = json as { error?: { code: number } };
	if (error !== undefined) return `error ${error.code}`;
	const messages = json.messages as Array<{ message: { turn?: number; text: string } }>;
	const counted = messages.map(({ message }) => message);
	const own = counted.filter(({ turn }) => turn === 2);
	if (own.length < counted.length) return 'repeated messages count';
	return own.map(({ text }) => text).join() === says.join()
		? 'its own messages'
		: `lost: ${JSON.stringify(counted)}`;
}

async function cells(): Promise<string[][][]> {
	return await Promise.all(
		servers.map(
			async (server) =>
				await Promise.all(
					ends.map(
						async (end) =>
							await Promise.all(
								agents.map(async (agent) => await secondTurn(server, agent, end)),
							),
					),
				),
		),
	);
}

function table(all: readonly (readonly (readonly string[])[])[]): string {
	const rows = servers.map(({ name }, s) => {
		const shown = ends.map((_, e) => [...new Set(all[s]?.[e]?.slice(0, 3))].join('; '));
		return `| ${name} | ${shown.join(' | ')} |`;
	});
	return [
		'| The service | Match | Count | Silence | Close |',
		'| --- | --- | --- | --- | --- |',
		...rows,
	].join('\n');
}

beforeAll(withBinaryData);

test('every turn gets its own messages, whatever the service does; repeated ones count only without IDs after a close', async () => {
	const all = await cells();
	servers.forEach(({ closes, repeats, hasIds }, s) => {
		ends.forEach((end, e) => {
			agents.forEach((agent, a) => {
				const cell = `${servers[s]?.name}, ${agent.name}, ${end}: ${all[s]?.[e]?.[a]}`;
				const isSilent = agent.says(2).length === 0;
				if (isSilent)
					expect(cell).toMatch(end === 'close' ? /: its own messages$/ : /: error 504$/);
				else if (closes && repeats && !hasIds)
					expect(cell).toMatch(/: (its own messages|repeated messages count)$/);
				else expect(cell).toMatch(/: its own messages$/);
			});
		});
	});
	const { target, text, current } = generatedPart('turns.md', table(all));
	if (process.env.WRITE_DOCS) writeFileSync(target, current);
	else expect(text).toBe(current);
});
