import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { systemClock } from '../../core/runtime';
import { forEditor, isNodeError, type NodeError, toNodeError } from '../../core/errors';
import { runItems, type Checked, type Done, type Task, type Work } from '../../core/itemLoop';
import { Sanitizer, cleanLog, secretsIn } from '../../core/sanitizer';
import { NodeParameters } from '../../fields/params';
import { MemoryBudget } from '../../http/body';
import { readCredentials, type Credentials } from '../session/credentials';
import { identityReader } from '../session/connectRequest';
import { connect } from '../session/connection';
import {
	callOf,
	checkedItem,
	type CheckedItem,
	execute,
	type ExecuteBody,
	type Executed,
	meaningOf,
	type PreparedCall,
} from './call';
import { refusedBeforeCall, stoppedBeforeCall, tooMuchOutput, withContext } from './errors';
import {
	errorForChat,
	highlightAnswer,
	hintsOf,
	LiveView,
	outputItem,
	tagExecution,
	withMessages,
} from './output';
import { naming, type WaitSettings } from './parameters';
import { type Answer, contentOf } from './response';
import { callAndWait, type TryHooks, type WaitParts } from './wait';

export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// Once per run of the node, as n8n's own helper does.
	const credentials = await readCredentials(context).catch(toNodeError);
	const work = new AgentWork(context, credentials);
	try {
		const items = await runItems(context, work);
		highlightAnswer(context, items);
		return items;
	} catch (error) {
		throw errorForChat(error, context);
	} finally {
		work.showHints();
	}
}

/** Texts and JSON that the items of one execution may hold: more would take n8n's whole memory. */
const maxKeptBytes = 512 * 1024 * 1024;

class AgentWork implements Work<CheckedItem> {
	readonly sanitizer: Sanitizer;
	readonly #context: IExecuteFunctions;
	readonly #credentials: Credentials | NodeError;
	readonly #parameters: NodeParameters;
	readonly #hints = new Set<string>();
	#keptBytes = 0;

	constructor(context: IExecuteFunctions, credentials: Credentials | NodeError) {
		this.sanitizer = new Sanitizer(isNodeError(credentials) ? undefined : secretsIn(credentials));
		this.#context = context;
		this.#credentials = credentials;
		this.#parameters = new NodeParameters(context);
	}

	check(index: number): CheckedItem {
		if (isNodeError(this.#credentials)) throw this.#credentials;
		return checkedItem(this.#parameters, index, this.#credentials);
	}

	readonly sent = meaningOf;
	readonly stopped = stoppedBeforeCall;

	/** The service does not queue calls of a session, so items of one session run one after another. */
	tasks(checked: ReadonlyArray<Checked<CheckedItem>>): Array<Task<CheckedItem>> {
		return checked.map((item) => ({
			items: [item],
			key: item.value.params.sessionId || undefined,
		}));
	}

	/** For options of the whole node, the first item decides. */
	parallel([first]: ReadonlyArray<Checked<CheckedItem>>): number {
		return first?.value.params.parallelRequests ?? 1;
	}

	async perform(items: ReadonlyArray<Checked<CheckedItem>>): Promise<Done[]> {
		return await Promise.all(items.map(({ index, value }) => this.#runItem(value, index)));
	}

	showHints(): void {
		const hints = [...this.#hints].map((hint) => ({
			message: forEditor(this.sanitizer.text(hint)),
			location: 'outputPane' as const,
		}));
		if (hints.length > 0) this.#context.addExecutionHints(...hints);
	}

	async #runItem(item: CheckedItem, index: number): Promise<Done> {
		let call: PreparedCall;
		try {
			call = callOf(item);
		} catch (error) {
			return { outcome: { failure: refusedBeforeCall(toNodeError(error)) }, isFinal: false };
		}
		tagExecution(this.#context, call.sessionId);
		const run = new ItemRun(this.#context, index, call);
		try {
			const item = await run.item();
			this.#keep(run.bytes);
			for (const hint of run.hints) this.#hints.add(hint);
			return { outcome: { output: [item] }, isFinal: true };
		} catch (error) {
			return run.failed(error);
		} finally {
			run.release();
		}
	}

	/** @throws NodeError if n8n cannot hold the item beside the others */
	#keep(bytes: number): void {
		if (this.#keptBytes + bytes > maxKeptBytes) throw tooMuchOutput(maxKeptBytes);
		this.#keptBytes += bytes;
	}
}

/** The call of one item, and the wait for its messages. */
class ItemRun {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #call: PreparedCall;
	readonly #memory = new MemoryBudget();
	#sent: ExecuteBody | undefined;
	#executed: Executed | undefined;
	/** Of the answer and the messages that the item holds. */
	bytes = 0;
	/** What the item alone does not say. */
	hints: readonly string[] = [];

	constructor(context: IExecuteFunctions, index: number, call: PreparedCall) {
		this.#context = context;
		this.#index = index;
		this.#call = call;
	}

	async item(): Promise<INodeExecutionData> {
		const { options, wait } = this.#call;
		const live = new LiveView(this.#context, this.#index, options);
		try {
			if (wait) return await this.#waitedItem(wait, live);
			const item = await this.#itemOf(await this.#execute());
			if (typeof item.json.output === 'string') live.text(item.json.output);
			this.hints = hintsOf(item, options);
			return item;
		} finally {
			await live.end();
		}
	}

	failed(error: unknown): Done {
		const failure = new Sanitizer(this.#call.secrets).error(naming.failure(toNodeError(error)));
		const executed = this.#executed;
		// The service accepted the call, or may have.
		const reachedService = executed !== undefined || failure.ambiguous || failure.carriedOut;
		if (!reachedService) return { outcome: { failure }, isFinal: false };
		const response = executed && responseOf(executed);
		return { outcome: { failure: withContext(failure, this.#call, response) }, isFinal: true };
	}

	release(): void {
		this.#memory.release();
	}

	async #waitedItem(settings: WaitSettings, live: LiveView): Promise<INodeExecutionData> {
		const { options, secrets, body } = this.#call;
		const parts: WaitParts = {
			...this.#call,
			settings,
			readIdentity: identityReader(this.#context, options),
			clock: systemClock,
			connect,
			signal: this.#context.getExecutionCancelSignal(),
			log: cleanLog(this.#context.logger, new Sanitizer(secrets)),
			onMessage: (message, ends) => {
				live.message(message, ends);
			},
		};
		const { called, waited } = await callAndWait(parts, async (hooks) => await this.#execute(hooks));
		const failure = isNodeError(called) ? called : undefined;
		const answered = isNodeError(called)
			? await outputItem(this.#context, this.#index, this.#call, this.#sent ?? body())
			: await this.#itemOf(called);
		this.bytes += waited.messages.reduce((sum, message) => sum + message.byteLength, 0);
		const item = await withMessages(answered, waited, options, this.#context.helpers);
		this.hints = hintsOf(item, options, { waited, failure });
		return item;
	}

	async #itemOf(executed: Executed): Promise<INodeExecutionData> {
		const item = await outputItem(this.#context, this.#index, this.#call, executed.sent, executed);
		if (!item.binary) this.bytes += executed.body.length;
		return item;
	}

	async #execute(hooks?: TryHooks): Promise<Executed> {
		this.#executed = await execute(this.#context, this.#call, this.#memory, {
			ready: async () => await hooks?.ready(),
			sending: (body) => {
				this.#sent = body;
				hooks?.sending();
			},
		});
		return this.#executed;
	}
}

/** Of a body of bytes, that it was one. */
function responseOf(answer: Answer): unknown {
	const content = contentOf(answer);
	return 'response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`;
}
