import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { IDataObject, INode } from 'n8n-workflow';

import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { apiKey, runExecute } from '../Agent/AgentExecute/executeRun';
import { TriggerRun, until } from '../Agent/AgentSessionTrigger/triggerRun';
import { failureOf, withBinaryData } from '../createExecuteContext';
import { runNode } from '../Workspace/runNode';
import { json, startScriptedServer, type ScriptedServer } from '../Workspace/scriptedServer';

/** The three nodes; Agent Execute twice, because its wait has fields and a connection of its own. */
export const nodeNames = [
	'Agent Execute',
	'its wait',
	'Agent Session Trigger',
	'Workspace',
] as const;
export type NodeName = (typeof nodeNames)[number];

/** What a node is given beyond what it cannot do without; keys of `options` are options. */
export interface Given {
	readonly parameters?: IDataObject;
	readonly options?: IDataObject;
	/** Where the service is, `http://…`; a healthy one otherwise. */
	readonly url?: string;
	readonly node?: Partial<INode>;
	readonly executionId?: string;
	readonly signal?: AbortSignal;
}

/** All nodes, each with a healthy service of its own on the loopback. */
export class Nodes {
	service!: AgentService;
	google!: ScriptedServer;

	constructor() {
		beforeAll(async () => {
			await withBinaryData();
			this.service = await startAgentService({ apiKey, messages: () => ['an answer'] });
			this.google = await startScriptedServer(json({ documentId: 'd1', replies: [{}] }));
		});
		afterAll(async () => {
			await this.service.close();
			await this.google.close();
		});
	}

	/** Requests and connections that have reached a healthy service. */
	get traffic(): number {
		return (
			this.service.connections + this.service.requests.length + this.google.received.length
		);
	}

	/** Calls that have reached a healthy service. */
	get calls(): number {
		return (
			this.service.requests.length +
			this.google.received.filter(({ method }) => method === 'POST').length
		);
	}

	/** Ends when the node's work is done: an item came out, or a channel stands. @throws the node's error */
	async run(name: NodeName, given: Given): Promise<void> {
		const waiting = { ...given, parameters: { ...waits, ...given.parameters } };
		if (name === 'Agent Execute') await this.#execute(given, given.url);
		else if (name === 'its wait') await this.#execute(waiting, undefined, given.url);
		else if (name === 'Workspace') await this.#workspace(given);
		else await this.#trigger(given);
	}

	/** What is logged of a channel that does not open, up to the first line; then the node is stopped. */
	async linesOf(name: 'its wait' | 'Agent Session Trigger', given: Given): Promise<string[]> {
		if (name === 'Agent Session Trigger') {
			const run = this.#published(given);
			await run.start();
			await until(() => run.logged.length > 0);
			await run.close();
			return run.logged;
		}
		const lines: string[] = [];
		const stop = new AbortController();
		jest.spyOn(Container.get(Logger), 'warn').mockImplementation((line) => {
			lines.push(line);
			stop.abort();
		});
		await failureOf(this.run(name, { ...given, signal: stop.signal }));
		return lines;
	}

	async #execute(
		{ parameters, options = {}, ...given }: Given,
		callUrl?: string,
		channelUrl?: string,
	) {
		const { url, webSocketUrl } = this.service;
		const places = { url: callUrl ?? url, webSocketUrl: channelUrl ?? webSocketUrl };
		await runExecute(places, {
			...given,
			parameters: { task: 'a task', ...parameters, options },
		});
	}

	#published({ parameters, options = {}, url }: Given): TriggerRun {
		const { service } = this;
		const places = { url: service.url, apiKey, webSocketUrl: url ?? service.webSocketUrl };
		return new TriggerRun({ service: places, parameters: { ...parameters, options } });
	}

	async #trigger(given: Given) {
		const before = this.service.upgrades.length;
		const run = this.#published(given);
		try {
			await run.start();
			await until(() => this.service.upgrades.length > before);
		} finally {
			await run.close();
		}
	}

	/** A change that Google carries out in one request, and that is not repeated blindly. */
	async #workspace({ parameters, options = {}, url = this.google.url, ...given }: Given) {
		await runNode({
			...given,
			url,
			parameters: {
				resource: 'document',
				operation: 'create',
				title: 'Report',
				documentId: { __rl: true, mode: 'id', value: 'd1' },
				...parameters,
				options,
			},
		});
	}
}

const waits = { waitForMessages: true, waitUntil: 'count' };
