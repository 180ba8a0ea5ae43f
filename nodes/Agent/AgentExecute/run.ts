import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { asFailure } from '../../core/errorItem';
import { type Failure, isFailure } from '../../core/failure';
import { type Checked, type Done, runItems, type Task, type Work } from '../../core/loop';
import { Room } from '../../http/room';
import { cleanLog } from '../../core/secrets/cleanLog';
import { secretsIn } from '../../core/secrets/credentialSecrets';
import { Sanitizer } from '../../core/secrets/sanitizer';
import { NodeParameters } from '../../fields/nodeParameters';
import { systemClock } from '../session/clock';
import { connect } from '../session/connect';
import type { SessionMessage } from '../session/messages';
import { type Credentials, readCredentials } from '../session/credentials';
import { callOf, checkedItem, type CheckedItem, meaningOf, type PreparedCall } from './call';
import { contentOf } from './response';
import { withEvidence } from './evidence';
import { refusedBeforeCall, stoppedBeforeCall } from './errors';
import { LiveView } from './live';
import { outputItem, withMessages } from './output';
import { naming } from './parameters';
import { KeptTexts } from './payload';
import { execute, type Executed } from './request';
import { callAndWait } from './wait';
import type { WaitSettings } from './waitSettings';

/** Works on all items, several at once. */
export async function runAgents(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (context.getInputData().length === 0) return [];
	// Once per run of the node, as n8n's own helper does.
	const credentials = await readCredentials(context).catch(asFailure);
	return await runItems(context, new AgentWork(context, credentials));
}

class AgentWork implements Work<CheckedItem> {
	readonly sanitizer: Sanitizer;
	readonly #context: IExecuteFunctions;
	readonly #credentials: Credentials | Failure;
	readonly #parameters: NodeParameters;
	readonly #texts = new KeptTexts();

	constructor(context: IExecuteFunctions, credentials: Credentials | Failure) {
		this.sanitizer = new Sanitizer(isFailure(credentials) ? undefined : secretsIn(credentials));
		this.#context = context;
		this.#credentials = credentials;
		this.#parameters = new NodeParameters(context);
	}

	check(index: number): CheckedItem {
		if (isFailure(this.#credentials)) throw this.#credentials;
		return checkedItem(this.#parameters, index, this.#credentials, this.#texts);
	}

	sent(item: CheckedItem): unknown {
		return meaningOf(item);
	}

	/** The service does not queue calls of a session, so items of one session run one after another. */
	tasks(checked: ReadonlyArray<Checked<CheckedItem>>): Array<Task<CheckedItem>> {
		return checked.map((item) => ({ items: [item], lane: item.value.given.params.sessionId.trim() }));
	}

	/** For options of the whole node, the first item decides. */
	parallel([first]: ReadonlyArray<Checked<CheckedItem>>): number {
		return first?.value.given.params.parallelRequests ?? 1;
	}

	async perform(items: ReadonlyArray<Checked<CheckedItem>>): Promise<Done[]> {
		return await Promise.all(items.map(({ index, value }) => runItem(this.#context, value, index)));
	}

	stopped(): Failure {
		return stoppedBeforeCall();
	}
}

async function runItem(context: IExecuteFunctions, item: CheckedItem, index: number): Promise<Done> {
	let call: PreparedCall;
	try {
		call = callOf(context, item);
	} catch (error) {
		return { outcome: { failure: refusedBeforeCall(asFailure(error)) }, isFinal: false };
	}
	return await sendItem(context, index, call);
}

async function sendItem(context: IExecuteFunctions, index: number, call: PreparedCall): Promise<Done> {
	const progress: { executed?: Executed } = {};
	const room = new Room();
	/** @param sending told at each try that it goes out */
	const send = async (sending = () => {}) => {
		const body = () => {
			sending();
			return call.body();
		};
		progress.executed = await execute(context, { ...call, body }, room);
		return progress.executed;
	};
	try {
		const item = call.wait
			? await waitedItem(context, index, call, call.wait, send)
			: await outputItem(context, index, call, await send());
		return { outcome: { output: [item] }, isFinal: true };
	} catch (error) {
		const failure = new Sanitizer(call.secrets).failure(naming.failure(asFailure(error)));
		const { executed } = progress;
		const reachedService = executed !== undefined || failure.ambiguous || failure.carriedOut;
		// The service accepted the call, or may have.
		if (!reachedService) return { outcome: { failure }, isFinal: false };
		const { sessionId } = call;
		const response = executed && responseOf(executed);
		return {
			outcome: {
				failure: withEvidence(failure, { sessionId, response, redact: (text) => call.redact(text) }),
			},
			isFinal: true,
		};
	} finally {
		room.release();
	}
}

/** Of a body of bytes, that it was one. */
function responseOf({ answer }: Executed): unknown {
	const content = contentOf(answer);
	return 'response' in content ? content.response : `(${content.bytes.length} bytes, ${content.mimeType})`;
}

async function waitedItem(
	context: IExecuteFunctions,
	index: number,
	call: PreparedCall,
	settings: WaitSettings,
	send: (sending: () => void) => Promise<Executed>,
): Promise<INodeExecutionData> {
	const { sessionId, readIdentity, conversation } = call;
	const redact = (text: string) => call.redact(text);
	const signal = context.getExecutionCancelSignal();
	const log = cleanLog(context.logger, new Sanitizer(call.secrets));
	const live = new LiveView(context, index, settings);
	const onMessage = (message: SessionMessage) => {
		live.message(message);
	};
	const own = { sessionId, readIdentity, redact, onMessage, conversation };
	try {
		const { called, waited } = await callAndWait(
			{ ...own, settings, signal, log, clock: systemClock, connect },
			send,
		);
		const item = await outputItem(context, index, call, called);
		return await withMessages(item, waited, call, context.helpers);
	} finally {
		await live.end();
	}
}
