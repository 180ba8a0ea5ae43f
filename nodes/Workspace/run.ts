import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';

import { asFailure, errorItem, nodeError } from '../items/errorItem';
import type { Failure } from '../items/failure';
import { FinishedItems, isFailedTry } from '../items/finishedItems';
import { tryOfNode } from '../items/tryOfNode';

import { Connection } from './google/connection';
import { Jobs, tasksOf, type Job } from './job';
import type { Clients, OutputItem } from './operation';
import { perform } from './perform';
import { RunNotes } from './runItem';

type Outcome = { readonly output: INodeExecutionData[] } | { readonly failure: Failure };

/** Reads of several items go on side by side; their requests share one limit per credential anyway. */
const parallelReads = 5;

/** Works on all input items; the output keeps their order, and every output item is paired with its input item. */
export async function run(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const finished = new FinishedItems<Outcome>(tryOfNode(context));
	const runner = new Runner(context, finished);
	const outcomes = await runner.outcomes();
	const items = outcomes.flatMap((outcome, index) => {
		// Behind a failure that stops the node: never begun.
		if (!outcome) return [];
		if ('output' in outcome) return outcome.output;
		if (context.continueOnFail()) return errorItem(outcome.failure, index);
		finished.end(true);
		throw nodeError(context.getNode(), outcome.failure, index);
	});
	finished.end(isFailedTry(items));
	return items;
}

class Runner {
	private readonly context: IExecuteFunctions;
	private readonly finished: FinishedItems<Outcome>;
	private readonly jobs: Jobs;
	private readonly notes = new RunNotes();
	private readonly results: Array<Outcome | undefined>;
	private readonly clients = new Map<string, Promise<Clients>>();
	private connection: Promise<Connection> | undefined;
	private stopped = false;

	constructor(context: IExecuteFunctions, finished: FinishedItems<Outcome>) {
		this.context = context;
		this.jobs = new Jobs(context, this.notes);
		this.finished = finished;
		this.results = context.getInputData().map(() => undefined);
	}

	/** By input item; undefined for what was not begun because the node stops. */
	async outcomes(): Promise<ReadonlyArray<Outcome | undefined>> {
		// All parameters are checked before anything is sent, so that a mistake in the last item does not leave half a batch sent.
		const jobs = this.results.flatMap((_, index) => this.read(index) ?? []);
		const limit = pLimit(parallelReads);
		let reads: Array<Promise<void>> = [];
		for (const task of tasksOf(jobs)) {
			if (task.every(({ operation }) => operation.readsOnly)) {
				reads.push(limit(() => this.work(task)));
				continue;
			}
			await Promise.all(reads);
			reads = [];
			await this.work(task);
		}
		await Promise.all(reads);
		this.notes.show(this.context);
		return this.results;
	}

	private read(index: number): Job | undefined {
		try {
			const job = this.jobs.read(index);
			const known = this.finished.recall(index, job.sent);
			if (!known) return job;
			if ('failure' in known) this.fail(index, known.failure);
			else this.results[index] = known;
		} catch (error) {
			this.fail(index, asFailure(error));
		}
		return undefined;
	}

	private async work(task: readonly Job[]): Promise<void> {
		if (this.stopped) return;
		const performed = await perform(task, (job) => this.clientsFor(job));
		for (const [at, job] of task.entries()) {
			const outcome = performed[at];
			if (!outcome) this.fail(job.index, asFailure(new Error('The operation gave no result for this item')));
			else if ('failure' in outcome) this.failJob(job, outcome.failure);
			else await this.succeed(job, outcome.result);
		}
	}

	private fail(index: number, failure: Failure): void {
		this.results[index] = { failure };
		this.stopped ||=
			!this.context.continueOnFail() || this.context.getExecutionCancelSignal()?.aborted === true;
	}

	/** What may have been carried out, or is half done, is not begun anew by the next try of Retry On Fail: it fails again. */
	private failJob({ item, operation, index, sent }: Job, failure: Failure, isDone = false): void {
		const mayBeDone = isDone || failure.carriedOut || failure.ambiguous || item.hasMade;
		if (mayBeDone && !operation.readsOnly && !operation.idempotent)
			this.finished.remember(index, sent, { failure });
		this.fail(index, failure);
	}

	private async succeed(job: Job, result: unknown): Promise<void> {
		try {
			const output = await this.outputOf(job, result);
			const outcome = { output };
			this.results[job.index] = outcome;
			if (!job.operation.readsOnly) this.finished.remember(job.index, job.sent, outcome);
		} catch (error) {
			this.failJob(job, job.item.told(asFailure(error)), true);
		}
	}

	private async outputOf({ operation, params, index }: Job, result: unknown): Promise<INodeExecutionData[]> {
		const items = operation.toItems?.(result, params) ?? [{ json: result as OutputItem['json'] }];
		return await Promise.all(
			items.map(async ({ json, binary }) => ({
				json,
				...(binary && { binary: await this.stored(binary) }),
				pairedItem: { item: index },
			})),
		);
	}

	private async stored(binary: NonNullable<OutputItem['binary']>) {
		const entries = Object.entries(binary).map(async ([field, { data, fileName, mimeType }]) => {
			return [field, await this.context.helpers.prepareBinaryData(data, fileName, mimeType)] as const;
		});
		return Object.fromEntries(await Promise.all(entries));
	}

	/** Clients differ by what the requests may need and by the operation's advice. */
	private clientsFor({ operation, resource, limits }: Job): Promise<Clients> {
		const key = JSON.stringify([resource, operation.value, limits]);
		const clients = this.clients.get(key) ?? this.connect(operation.errors, limits);
		this.clients.set(key, clients);
		return clients;
	}

	private async connect(advice: Job['operation']['errors'], limits: Job['limits']): Promise<Clients> {
		const authentication =
			this.context.getNodeParameter('authentication', 0, 'oAuth2') === 'serviceAccount'
				? 'serviceAccount'
				: 'oAuth2';
		this.connection ??= Connection.open(this.context, authentication);
		return await (
			await this.connection
		).clients({
			maxTries: limits.maxTries,
			maxRetryWaitMilliseconds: limits.maxRetryWaitSeconds * 1000,
			timeoutMilliseconds: limits.timeoutSeconds * 1000,
			advice,
		});
	}
}
