import type { IDataObject } from 'n8n-workflow';

import {
	type AgentService,
	type AgentServiceOptions,
	startAgentService,
} from '../../../dev/agent-service/server';
import { withBinaryData } from '../../createExecuteContext';
import { type TriggerOptions, TriggerRun, until } from './triggerRun';
import { countListeningNodes } from '../../sharedState';
import { useSteadyClock } from '../../steadyClock';

export const apiKey = 'canary-api-key-55aa';

/** A service, and the triggers that a test publishes; all of it ends with the test. */
export class Published {
	service!: AgentService;
	readonly #runs: TriggerRun[] = [];
	/** Each test has a workflow of its own, because a node remembers its starts. */
	#workflow = 0;

	constructor() {
		beforeAll(withBinaryData);
		useSteadyClock();
		beforeEach(() => {
			this.#workflow++;
			return this.serve();
		});
		afterEach(async () => {
			await Promise.all(this.#runs.splice(0).map((run) => run.close()));
			expect(countListeningNodes()).toBe(0);
			await this.service.close();
		});
	}

	async serve(options: AgentServiceOptions = {}): Promise<void> {
		this.service = await startAgentService({ apiKey, ...options });
	}

	async publish(
		parameters: IDataObject = {},
		options: Partial<TriggerOptions> = {},
	): Promise<TriggerRun> {
		const run = new TriggerRun({
			service: this.service,
			parameters,
			workflowId: `workflow ${this.#workflow}`,
			...options,
		});
		this.#runs.push(run);
		return await run.start();
	}

	/** Publishes a trigger and waits until its channel is open. */
	async listening(
		parameters?: IDataObject,
		options?: Partial<TriggerOptions>,
	): Promise<TriggerRun> {
		const run = await this.publish(parameters, options);
		await until(() => this.service.countOpenChannels() > 0);
		return run;
	}
}
