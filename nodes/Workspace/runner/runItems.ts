import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNodeError, type NodeError, refusal } from '../../core/errors';
import { type Checked, type Done, runItems, type Task, type Work } from '../../core/itemLoop';
import { Sanitizer } from '../../core/sanitizer';
import { stopped } from '../../http/retry';
import { connect, type Connection } from '../google/googleConnection';
import { errorOfReading } from '../google/errors';
import type { Clients, Item, OutputItem } from '../operation';
import { type Job, Jobs, RunNotes, tasksOf } from './job';

type Performed = { readonly result: unknown } | { readonly failure: NodeError };

/** Performs jobs that are sent together; one outcome per job, in their order. Never throws. */
export async function perform(
	jobs: readonly Job[],
	clientsFor: (job: Job) => Promise<Clients>,
): Promise<Performed[]> {
	const [first] = jobs;
	if (!first) return [];
	try {
		const clients = await clientsFor(first);
		const performed = await performWith(clients, first, jobs);
		return await Promise.all(performed.map((outcome, at) => settled(clients, jobs[at] ?? first, outcome)));
	} catch (error) {
		return jobs.map((job) => ({ failure: job.item.told(failureOf(error, job)) }));
	}
}

async function performWith(clients: Clients, first: Job, jobs: readonly Job[]): Promise<Performed[]> {
	const { operation, params, item, combineKey } = first;
	try {
		if (!operation.combine || combineKey === undefined) {
			return [{ result: await operation.execute(clients, params, item) }];
		}
		const results = await operation.combine.execute(clients, jobs);
		return results.map((result) => (isNodeError(result) ? { failure: result } : { result }));
	} catch (error) {
		return jobs.map((job) => ({ failure: failureOf(error, job) }));
	}
}

/** The real outcome of an ambiguous failure, if the operation can find out. */
async function settled(clients: Clients, job: Job, outcome: Performed): Promise<Performed> {
	if (!('failure' in outcome)) return outcome;
	const { operation, params, item } = job;
	const { failure } = outcome;
	if (!failure.ambiguous) return { failure: item.told(failure) };
	const unsettled = { failure: item.told(unknown(failure, job)) };
	if (!operation.recover || item.signal?.aborted) return unsettled;
	try {
		const result = await operation.recover(clients, params, failure, item);
		return result === undefined ? unsettled : { result };
	} catch (error) {
		const later = failureOf(error, job);
		const isTold = later.ambiguous || later.settled || item.hasMade;
		const told = isTold ? later : unknown(failure, job, later);
		return { failure: item.told(told) };
	}
}

/**
 * Without this a user takes an error for work that was not done. In the message, because an error item has no description.
 * @param lookup why looking for what became of it failed too
 */
function unknown(failure: NodeError, { operation, params }: Job, lookup?: NodeError): NodeError {
	const { message, description } = failure;
	// Most operations say it in words of their own.
	const isSaid = /\bmay (still )?(have been|exist)\b/.test(message);
	const seen = lookup && `Checking this also failed (${lookup.message}).`;
	const what = operation.idempotent?.(params)
		? 'It is safe to run this again.'
		: 'Check the result in Google before you run this again.';
	return failure.with({
		message: isSaid ? message : `The request may have been carried out: ${message}`,
		description: [description, seen, isSaid ? undefined : what].filter(Boolean).join(' '),
		ambiguous: true,
	});
}

function failureOf(error: unknown, { operation, item }: Job): NodeError {
	// The generated clients check their own parameters before they send anything, and throw plain errors.
	const byClient =
		error instanceof Error && /^(Missing required parameters|Invalid value)/.test(error.message);
	if (byClient) return refusal(error.message);
	const failure = errorOfReading(error, (text) => {
		item.log(text);
	});
	// It may be the response to what changed something.
	const isAmbiguous = !isNodeError(error) && failure.code === 502 && !operation.readsOnly;
	return isAmbiguous ? failure.with({ ambiguous: true }) : failure;
}

/** Of items that may run in parallel; their requests share one limit per credential anyway. */
const parallelItems = 5;

/** Works on all input items; every output item is paired with its input item. */
export async function run(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const work = new WorkspaceWork(context);
	try {
		return await runItems(context, work);
	} finally {
		work.showNotes();
	}
}

class WorkspaceWork implements Work<Job> {
	readonly sanitizer = new Sanitizer();
	private readonly context: IExecuteFunctions;
	private readonly jobs: Jobs;
	private readonly notes = new RunNotes(this.sanitizer);
	private readonly clients = new Map<string, Promise<Clients>>();
	private connection: Promise<Connection> | undefined;

	constructor(context: IExecuteFunctions) {
		this.context = context;
		this.jobs = new Jobs(context, this.notes);
	}

	check(index: number): Job {
		return this.jobs.read(index);
	}

	sent({ sent }: Job): unknown {
		return sent;
	}

	/**
	 * Operations that change something run in the order of the items. Only reads that follow one another, and changes of different
	 * things by the same operation, run in parallel.
	 */
	tasks(checked: ReadonlyArray<Checked<Job>>): Array<Task<Job>> {
		let phase = 0;
		let last: Job | undefined;
		return tasksOf(checked).map((items) => {
			const [first] = items;
			if (!first || !last || !mayRunBeside(last, first.value)) phase++;
			last = first?.value;
			return { items, phase, key: first?.value.serialKey };
		});
	}

	parallel(): number {
		return parallelItems;
	}

	async perform(items: ReadonlyArray<Checked<Job>>): Promise<Done[]> {
		const jobs = items.map(({ value }) => value);
		const performed = await perform(jobs, (job) => this.clientsFor(job));
		return await Promise.all(performed.map((one, at) => this.done(jobs[at], one)));
	}

	stopped(): NodeError {
		return stopped('Nothing was sent for this item.');
	}

	showNotes(): void {
		this.notes.show(this.context);
	}

	private async done(job: Job | undefined, performed: Performed): Promise<Done> {
		if (!job) throw new Error('The operation returned more results than it had items');
		if ('failure' in performed) return failed(job, performed.failure);
		try {
			const output = await this.outputOf(job, performed.result);
			const ending = job.operation.endedBy?.(performed.result);
			if (ending) return failed(job, job.item.told(ending), { output });
			return { outcome: { output }, isFinal: !job.operation.readsOnly };
		} catch (error) {
			return failed(job, job.item.told(failureOf(error, job)), { isDone: true });
		}
	}

	private async outputOf(
		{ operation, params, index, item }: Job,
		result: unknown,
	): Promise<INodeExecutionData[]> {
		const items = operation.toItems?.(result, params) ?? [{ json: result as OutputItem['json'] }];
		const output: INodeExecutionData[] = [];
		for (const { json, binary } of items) {
			// Most items have none, and there may be hundreds of thousands.
			const files = binary && { binary: await stored(item, binary) };
			output.push({ json, ...files, pairedItem: { item: index } });
		}
		return output;
	}

	/** Clients differ by what the requests may need and by the operation's advice. */
	private clientsFor({ operation, resource, limits }: Job): Promise<Clients> {
		const key = JSON.stringify([resource, operation.value, limits]);
		const clients = this.clients.get(key) ?? this.connect(operation, limits);
		this.clients.set(key, clients);
		return clients;
	}

	private async connect({ errors }: Job['operation'], limits: Job['limits']): Promise<Clients> {
		const authentication =
			this.context.getNodeParameter('authentication', 0, 'oAuth2') === 'serviceAccount'
				? 'serviceAccount'
				: 'oAuth2';
		this.connection ??= connect(this.context, authentication, this.sanitizer);
		return await (
			await this.connection
		).clients({
			maxTries: limits.maxTries,
			maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
			timeoutMilliseconds: limits.timeoutSeconds * 1000,
			advice: errors,
		});
	}
}

function mayRunBeside(earlier: Job, later: Job): boolean {
	if (earlier.operation.readsOnly) return later.operation.readsOnly === true;
	return (
		earlier.operation === later.operation && earlier.serialKey !== undefined && later.serialKey !== undefined
	);
}

async function stored(item: Item, binary: NonNullable<OutputItem['binary']>) {
	const entries = Object.entries(binary).map(async ([field, one]) => {
		return [field, ('stored' in one ? one : await item.store(one)).stored] as const;
	});
	return Object.fromEntries(await Promise.all(entries));
}

/** Retry On Fail does not start an item again that may have been carried out or is half done: the item fails again. */
function failed(
	{ item, operation, params }: Job,
	failure: NodeError,
	{ isDone = false, output }: { readonly isDone?: boolean; readonly output?: INodeExecutionData[] } = {},
): Done {
	const mayBeDone = isDone || failure.carriedOut || failure.ambiguous || item.hasMade;
	return {
		outcome: { failure, ...(output && { output }) },
		isFinal: mayBeDone && !operation.readsOnly && !operation.idempotent?.(params),
	};
}
