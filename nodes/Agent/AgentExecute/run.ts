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
			if (this.#keptBytes + run.bytes > maxKeptBytes) throw tooMuchOutput(maxKeptBytes);
			this.#keptBytes += run.bytes;
			for (const hint of run.hints) this.#hints.add(hint);
			return { outcome: { output: [item] }, isFinal: true };
		} catch (error) {
			return run.failed(error);
		} finally {
			run.release();
		}
	}
}

/** The call of one item, and the wait for its messages. */
class ItemRun {
	readonly #context: IExecuteFunctions;
	readonly #index: number;
	readonly #call: PreparedCall;
	readonly #memory = new MemoryBudget();
	/** In the last try. */
	#sent: ExecuteBody;
	#answer: Answer | undefined;
	/** Of the answer and the messages that the item holds. */
	bytes = 0;
	/** What the item alone does not say. */
	hints: readonly string[] = [];

	constructor(context: IExecuteFunctions, index: number, call: PreparedCall) {
		this.#context = context;
		this.#index = index;
		this.#call = call;
		this.#sent = call.body();
	}

	async item(): Promise<INodeExecutionData> {
		const { options, wait } = this.#call;
		const live = new LiveView(this.#context, this.#index, options);
		try {
			const { called, waited } = wait
				? await this.#callAndWait(wait, live)
				: { called: await this.#execute() };
			const failure = isNodeError(called) ? called : undefined;
			const answer = isNodeError(called) ? undefined : called;
			const answered = await outputItem(this.#context, this.#index, this.#call, this.#sent, answer);
			if (answer && !answered.binary) this.bytes += answer.body.length;
			const item = waited ? await withMessages(answered, waited, options, this.#context.helpers) : answered;
			for (const { byteLength } of waited?.messages ?? []) this.bytes += byteLength;
			if (!waited && typeof item.json.output === 'string') live.text(item.json.output);
			this.hints = hintsOf(item, options, { waited, failure });
			return item;
		} finally {
			await live.end();
		}
	}

	failed(error: unknown): Done {
		const failure = new Sanitizer(this.#call.secrets).error(naming.failure(toNodeError(error)));
		const answer = this.#answer;
		// The service accepted the call, or may have.
		const reachedService = answer !== undefined || failure.ambiguous || failure.carriedOut;
		if (!reachedService) return { outcome: { failure }, isFinal: false };
		const response = answer && responseOf(answer);
		return { outcome: { failure: withContext(failure, this.#call, response) }, isFinal: true };
	}

	release(): void {
		this.#memory.release();
	}

	async #callAndWait(settings: WaitSettings, live: LiveView) {
		const parts: WaitParts = {
			...this.#call,
			settings,
			readIdentity: identityReader(this.#context, this.#call.options),
			clock: systemClock,
			connect,
			signal: this.#context.getExecutionCancelSignal(),
			log: cleanLog(this.#context.logger, new Sanitizer(this.#call.secrets)),
			onMessage: (message, ends) => {
				live.message(message, ends);
			},
		};
		return await callAndWait(parts, async (hooks) => await this.#execute(hooks));
	}

	async #execute(hooks?: TryHooks): Promise<Answer> {
		this.#answer = await execute(this.#context, this.#call, this.#memory, {
			ready: async () => await hooks?.ready(),
			sending: (body) => {
				this.#sent = body;
				hooks?.sending();
			},
		});
		return this.#answer;
	}
}

/** Of a body of bytes, that it was one. */
function responseOf(answer: Answer): unknown {
	const content = contentOf(answer);
	return 'response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`;
}
