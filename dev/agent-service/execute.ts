import type { IncomingMessage, ServerResponse } from 'node:http';

import { sendAnswer } from './answer.ts';
import { buildDemoAnswer, buildDemoMessages } from './demo.ts';
import type { ServiceState } from './options.ts';
import {
	type ExecuteFields,
	isExecuteFields,
	receiveRequest,
	type ReceivedRequest,
	sendJson,
} from './request.ts';
import type { ExecuteStep, Message } from './script.ts';

/** Builds an error body. The error bodies of the real service are not known. */
export const buildErrorBody = (code: number, message: string): object => ({
	error: { code, message },
});

/** Answers `POST {prefix}/execute` and starts the agent. */
export class ExecuteEndpoint {
	readonly requests: ReceivedRequest[] = [];
	readonly steps: ExecuteStep[] = [];
	private readonly service: ServiceState;
	private readonly path: string;

	constructor(service: ServiceState) {
		this.service = service;
		this.path = `${service.prefix}/execute`;
	}

	async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const isCall = request.method === 'POST' && request.url?.split('?')[0] === this.path;
		const fault = isCall ? this.steps[0]?.fault : undefined;
		if (fault === 'resetBeforeRead') {
			this.steps.shift();
			request.socket.resetAndDestroy();
			return;
		}
		const received = await receiveRequest(request);
		if (this.service.options.keepLog !== false) this.requests.push(received);
		const step = isCall
			? (this.steps.shift() ?? this.service.options.execute?.(received) ?? {})
			: {};
		if (step.carriedOut) this.startAgent(received, step);
		if (step.fault === 'resetBeforeRead' || step.fault === 'resetAfterRead')
			request.socket.resetAndDestroy();
		if (step.fault === 'silence' || request.socket.destroyed) return;
		await step.after;
		const { latencyMilliseconds = 0 } = this.service.options;
		const delay = step.delayMilliseconds ?? (isCall ? latencyMilliseconds : 0);
		const reply = (): void => {
			this.reply(received, response, step);
		};
		if (delay > 0) this.service.timers.after(delay, reply);
		else reply();
	}

	private reply(received: ReceivedRequest, response: ServerResponse, step: ExecuteStep): void {
		if (response.destroyed) return;
		const refusal = step.status === undefined ? this.findRefusal(received) : undefined;
		if (refusal) {
			sendJson(response, refusal.code, buildErrorBody(refusal.code, refusal.message));
			return;
		}
		const fields = isExecuteFields(received) ? received.body : undefined;
		if (!fields) {
			sendAnswer(response, step, null);
			return;
		}
		const { answer = buildDemoAnswer } = this.service.options;
		sendAnswer(response, step, step.body === undefined ? answer(fields) : step.body);
		const { status = 200, carriedOut = status >= 200 && status <= 299 } = step;
		if (carriedOut && step.carriedOut === undefined) this.startAgent(received, step);
	}

	private startAgent(received: ReceivedRequest, step: ExecuteStep): void {
		if (!isExecuteFields(received)) return;
		const { messages = buildDemoMessages } = this.service.options;
		this.service.sessions.get(received.body.sessionId).executions++;
		this.sendMessages(received.body, step.messages ?? messages(received.body));
	}

	private findRefusal(request: ReceivedRequest): { code: number; message: string } | undefined {
		const { method, url, headers, faults } = request;
		if (url.split('?')[0] !== this.path)
			return { code: 404, message: `There is nothing at ${url}` };
		if (headers['x-api-key'] !== this.service.apiKey)
			return { code: 401, message: 'The API key is not valid' };
		if (method !== 'POST') return { code: 405, message: `Use POST, not ${method}` };
		return faults.length === 0 ? undefined : { code: 400, message: faults.join('; ') };
	}

	private sendMessages({ sessionId }: ExecuteFields, messages: readonly Message[]): void {
		const { messageIntervalMilliseconds = 0 } = this.service.options;
		if (messageIntervalMilliseconds === 0) {
			this.service.sessions.send(sessionId, messages);
			return;
		}
		messages.forEach((message, index) => {
			this.service.timers.after((index + 1) * messageIntervalMilliseconds, () => {
				this.service.sessions.send(sessionId, [message]);
			});
		});
	}
}
