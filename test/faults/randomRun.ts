import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import { startAgentService } from '../../dev/agent-service/server.ts';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { isAgreed } from './agreed';
import { type Ended, findLie, readClaim, toEnd } from './claim';
import { faultList, type ListedFault } from './faultList';
import { inputOf, subjects, type Subject } from './samples';
import { Seeded } from './seeded';
import { isCall, World } from './world';

/** Everything that went wrong in a run. */
type Wrongs = string[];

/** What an item leaves at the service in an undisturbed run, by subject. */
type Calm = ReadonlyMap<string, number>;

const changing = subjects.filter(
	({ operation, variant }) => !operation.mayChange && !variant.isLarge,
);
const options = { maxRetryWaitSeconds: 3, timeoutSeconds: 8 };
/** A fault hits one of this many first requests of a run. */
const furthest = 12;

/** Each text is legal as Base64, too. */
const textOf = (item: number) => `item${String(item).padStart(4, '0')}`;

interface Plan {
	readonly seed: number;
	readonly random: Seeded;
	readonly items: number;
	readonly tries: number;
	readonly node: Partial<INode>;
	readonly faults: ReadonlyArray<{ readonly fault: ListedFault; readonly nth: number }>;
}

/** One execution of a node with Retry On Fail, with random items, settings and faults: all of it follows from the seed. */
export async function randomRun(seed: number, calm: Calm): Promise<Wrongs> {
	const random = new Seeded(seed);
	const subject = random.one([...changing, undefined]);
	const credential = { id: `credential-${seed}`, name: 'Mine' };
	const node = {
		id: `node-${seed}`,
		onError: random.one([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const),
		credentials: {
			workspaceOAuth2Api: credential,
			agentApi: credential,
			agentSignatureApi: credential,
		},
	};
	// Each item would overwrite the one before.
	const items = subject?.operation.isIdempotent ? 1 : random.within(1, 4);
	const tries = random.within(2, 4);
	const faults = Array.from({ length: random.within(1, 4) }, () => ({
		fault: random.one(faultList),
		nth: random.within(1, furthest),
	}));
	const plan = { seed, random, items, tries, node, faults };
	const wrongs = subject ? await googleRun(subject, plan, calm) : await agentRun(plan);
	const what = subject?.name ?? 'Agent Execute';
	const told = faults.map(({ fault, nth }) => `${fault.name} at ${nth}`).join(', ');
	return wrongs.map(
		(wrong) => `seed ${seed}, ${what}, ${items} items, ${tries} tries, ${told}: ${wrong}`,
	);
}

async function googleRun(subject: Subject, plan: Plan, calm: Calm): Promise<Wrongs> {
	const world = await World.start();
	try {
		for (const { fault, nth } of plan.faults) {
			const times = fault.stays ? Infinity : 1;
			world.google.fault({ ...fault.google, match: isCall, nth, times });
		}
		const texts = Array.from({ length: plan.items }, (_, item) => textOf(item));
		const inputs = texts.map((text) => inputOf(subject, world.seeds, text));
		const executionId = `execution-${plan.seed}`;
		const ended = await withRetryOnFail(
			plan.tries,
			(node) => world.run({ inputs, options, node, executionId }),
			plan.node,
		);
		await world.settled();
		const once = calm.get(subject.name) ?? 0;
		const times = texts.map((text) => world.traces(text) / once);
		return wrongsOf(ended, times);
	} finally {
		await world.close();
	}
}

async function agentRun({ seed, items, tries, node, faults }: Plan): Promise<Wrongs> {
	let calls = 0;
	const request = { subject: 'Agent Execute', request: 'execute' };
	const known = faults.filter(({ fault }) => !isAgreed({ ...request, fault: fault.name }));
	const execute = () => {
		calls++;
		const isHit = ({ fault, nth }: Plan['faults'][number]) =>
			calls === nth || (fault.stays && calls > nth);
		return known.find(isHit)?.fault.agent;
	};
	const service = await startAgentService({ apiKey, execute });
	try {
		const inputs = Array.from({ length: items }, (_, item) => {
			return { json: { session: textOf(item) } };
		});
		const timeLimits = { limits: options };
		const parameters = { sessionId: '={{ $json.session }}', options: { timeLimits } };
		const executionId = `execution-${seed}`;
		const ended = await withRetryOnFail(
			tries,
			(own) => runExecute(service, { parameters, items: inputs, node: own, executionId }),
			node,
		);
		const times = inputs.map(({ json }) => service.sessions.get(json.session)?.executions ?? 0);
		return wrongsOf(ended, times);
	} finally {
		await service.close();
	}
}

/**
 * A node with Retry On Fail, as n8n 2.41 runs it: the whole node again in the same execution and run, when it throws or when its first
 * item is an error.
 */
async function withRetryOnFail(
	maxTries: number,
	run: (node: Partial<INode>) => Promise<INodeExecutionData[]>,
	node: Partial<INode>,
): Promise<Ended> {
	for (let tries = 1; ; tries++) {
		const ended = await toEnd(run({ ...node, retryOnFail: true, maxTries }));
		const failed = 'error' in ended || Boolean(ended.items[0]?.json['error']);
		if (!failed || tries >= maxTries) return ended;
	}
}

/** @param times how often the work of each item was done */
function wrongsOf(ended: Ended, times: readonly number[]): Wrongs {
	const twice = times.flatMap((done, item) =>
		done > 1 ? [`item ${item} was done ${done} times`] : [],
	);
	return [...twice, ...('error' in ended ? ofError(ended, times) : ofItems(ended, times))];
}

function ofError({ error }: Extract<Ended, { error: unknown }>, times: readonly number[]): Wrongs {
	const item = Number(error.context['itemIndex'] ?? 0);
	const lie = findLie(readClaim(error), times[item] ?? NaN);
	return lie === undefined ? [] : [`of item ${item} the error ${lie}: ${error.message}`];
}

function ofItems({ items }: Extract<Ended, { items: unknown }>, times: readonly number[]): Wrongs {
	return times.flatMap((done, item) => {
		const own = items.filter(
			({ pairedItem }) => (pairedItem as { item: number }).item === item,
		);
		const [only] = own;
		if (!only || own.length > 1) return [`item ${item} became ${own.length} items`];
		const error = only.json['error'] as IDataObject | undefined;
		if (!error)
			return done === 1 ? [] : [`item ${item} is a success and was done ${done} times`];
		const lie = findLie(claimOfItem(error), done);
		if (lie === undefined) return [];
		return [`of item ${item} the error item ${lie}: ${JSON.stringify(error)}`];
	});
}

/** An error item has its message and what is known of work that may be going on. */
function claimOfItem({ message, details }: IDataObject) {
	const known = details as IDataObject | undefined;
	if (known?.['made'] !== undefined) return 'done';
	// A session ID means that the agent may be running.
	if (known?.['sessionId'] !== undefined) return 'unknown';
	return readClaim({ message: typeof message === 'string' ? message : '' });
}
