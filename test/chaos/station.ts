import type { AgentServiceOptions } from '../../dev/agent-service/options';
import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { ChaosProxy } from '../../dev/chaos/chaosProxy';
import type { Link } from '../../dev/chaos/link';
import {
	connect,
	type Connection,
	type ConnectionOptions,
} from '../../nodes/Agent/session/connection';
import { Account, canaries, requestTo, standardOptions } from '../Agent/session/fakeSession';
import { until } from '../Agent/session/tap';
import { SteadyClock } from '../steadyClock';
import { turns } from '../turns';

const serviceOptions = { apiKey: canaries.apiKey };
/** Milliseconds between two messages of the traffic. */
const pace = 2;

/** Resets a link. */
export const reset = (link: Link): void => {
	link.reset();
};

/** A session behind a proxy with weather, a server that can be restarted, and numbered traffic. */
export class Station {
	/** By default so fast that 45 s pass in two. */
	readonly clock: SteadyClock;
	readonly account = new Account();
	service: AgentService;
	readonly proxy: ChaosProxy = new ChaosProxy(() => this.service.port);
	signature = canaries.signature;
	connection!: Connection;
	/** Number of the last message that the server has sent. */
	sent = 0;
	#traffic: NodeJS.Timeout | undefined;
	/** Attempts to open a channel. */
	#attempts = 0;
	readonly #options: AgentServiceOptions;

	static async open(
		options: Partial<ConnectionOptions> = {},
		service: AgentServiceOptions = {},
		clock = new SteadyClock(20),
	): Promise<Station> {
		const running = await startAgentService({ ...serviceOptions, ...service });
		const station: Station = new Station(running, service, clock);
		await station.proxy.listen();
		station.connection = station.connect(options);
		return station;
	}

	constructor(service: AgentService, options: AgentServiceOptions, clock: SteadyClock) {
		this.service = service;
		this.#options = options;
		this.clock = clock;
	}

	/** Another connection of the same session. */
	connect(options: Partial<ConnectionOptions> = {}): Connection {
		const readConnectRequest = (sessionId: string) => {
			this.#attempts++;
			const { proxy, signature } = this;
			return Promise.resolve(requestTo(proxy.address, sessionId, { signature }));
		};
		return connect(
			{ ...standardOptions, ...options },
			readConnectRequest,
			this.account.listener,
			{ clock: this.clock, log: this.account.logger },
		);
	}

	get isOpen(): boolean {
		return this.connection.getStatus().isOpen;
	}

	/** Whether an attempt has neither opened a channel nor failed. */
	get isConnecting(): boolean {
		const { events, ended } = this.account;
		const opened = events.filter(({ event }) => event !== 'disconnected').length;
		const failed = ended.filter(({ wasOpen }) => !wasOpen).length;
		return this.#attempts > opened + failed;
	}

	/** Whether the channel is open at both ends. */
	get #isServed(): boolean {
		return this.isOpen && this.service.countOpenChannels('s1') > 0;
	}

	/** Waits until the channel is open at both ends. */
	async opened(): Promise<this> {
		await until(() => this.#isServed);
		return this;
	}

	/**
	 * Lets time pass between attempts, and none during one, until the condition holds. By default,
	 * until the channel is open at both ends.
	 */
	async passing(condition = () => this.#isServed): Promise<void> {
		await until(() => {
			if (condition()) return true;
			if (!this.isOpen && !this.isConnecting) this.clock.jump(1000);
			return false;
		});
	}

	/** Moves the clock forward and waits until what was due has happened. */
	async jump(milliseconds: number): Promise<void> {
		this.clock.jump(milliseconds);
		await turns(5);
	}

	#sendNext(): void {
		this.sent++;
		this.service.send('s1', { n: this.sent });
	}

	/**
	 * Starts sending numbered messages, and waits for the first ones. While there is no channel,
	 * the server keeps them.
	 */
	async startTraffic(): Promise<void> {
		this.#traffic = setInterval(() => {
			if (this.service.countOpenChannels('s1') > 0) this.#sendNext();
		}, pace);
		await this.received(20);
	}

	stopTraffic(): void {
		clearInterval(this.#traffic);
	}

	/** Numbers of the messages, in the order of their arrival. */
	numbers(): number[] {
		return this.account.messages.map(({ message }) => (message as { n: number }).n);
	}

	/** Waits for this many more messages. */
	async received(more: number): Promise<void> {
		const goal = this.account.messages.length + more;
		await until(() => this.account.messages.length >= goal);
	}

	/** Ends the traffic, after a last message has come through. */
	async settle(): Promise<void> {
		this.stopTraffic();
		await this.opened();
		await until(() => {
			if (this.numbers().at(-1) === this.sent) return true;
			// What was on its way when the link broke is lost; the next message says so.
			if (this.#isServed) this.#sendNext();
			return false;
		});
	}

	/** Stops the service, with or without a close frame. It can be started again, behind the same proxy. */
	async stopService(closeCode?: number): Promise<void> {
		if (closeCode !== undefined) {
			this.service.closeChannels(closeCode);
			await until(() => this.service.countOpenChannels() === 0);
		}
		await this.service.close();
	}

	async startService(): Promise<void> {
		this.service = await startAgentService({ ...serviceOptions, ...this.#options });
	}

	/** What was told, without what the server itself has said in messages. */
	#told(): string {
		const { ended, alerts, events, log } = this.account;
		const failures = [...ended.map(({ failure }) => failure), ...alerts];
		const texts = failures.map((failure) => [
			...[failure.message, failure.description, failure.stack, String(failure.cause)],
		]);
		return JSON.stringify([ended, events, log, texts]);
	}

	/** Closes everything. Expects that no secret was told, and that no timer or channel is left. */
	async expectNothingLeft(): Promise<void> {
		expect(this.#told()).not.toMatch(/canary/);
		this.stopTraffic();
		await this.connection.close();
		this.proxy.setWeather({ kind: 'fair' });
		await until(() => this.service.countOpenChannels() === 0);
		expect(this.clock.pending).toBe(0);
		await this.proxy.close();
		await this.service.close();
	}
}
