import type { AgentServiceOptions } from '../../dev/agent-service/options';
import { type AgentService, startAgentService } from '../../dev/agent-service/server';
import { ChaosProxy } from '../../dev/chaos/chaosProxy';
import {
	connect,
	type Connection,
	type ConnectionOptions,
} from '../../nodes/Agent/session/connection';
import { buildConnectRequest } from '../../nodes/Agent/session/connectRequest';
import { buildIdentity } from '../../nodes/Agent/session/credentials';
import {
	Account,
	canaries,
	credentialOf,
	signatureOf,
	standardOptions,
} from '../Agent/session/fakeSession';
import { until } from '../Agent/session/tap';
import { turns } from '../turns';
import { FastClock } from './fastClock';

const serviceOptions = { apiKey: canaries.apiKey };
/** Milliseconds between two messages of the traffic. */
const pace = 2;

/** A session behind a proxy with weather, a server that can be restarted, and numbered traffic. */
export class Station {
	readonly clock: FastClock;
	readonly account = new Account();
	readonly sessionId: string;
	service: AgentService;
	proxy: ChaosProxy;
	signature = canaries.signature;
	connection: Connection;
	/** Number of the last message that the server has sent. */
	sent = 0;
	#traffic: NodeJS.Timeout | undefined;
	/** Attempts to open a channel. */
	#attempts = 0;
	readonly #options: AgentServiceOptions;
	readonly #random: () => number;

	static async open(
		options: Partial<ConnectionOptions> = {},
		service: AgentServiceOptions = {},
		clock = new FastClock(),
		random = Math.random,
	): Promise<Station> {
		const running = await startAgentService({ ...serviceOptions, ...service });
		const proxy: ChaosProxy = new ChaosProxy(() => station.service.port);
		await proxy.listen();
		const station: Station = new Station(options, running, proxy, service, clock, random);
		return station;
	}

	constructor(
		options: Partial<ConnectionOptions>,
		service: AgentService,
		proxy: ChaosProxy,
		extra: AgentServiceOptions,
		clock: FastClock,
		random: () => number,
	) {
		this.#random = random;
		this.clock = clock;
		this.service = service;
		this.proxy = proxy;
		this.#options = extra;
		this.sessionId = options.sessionId ?? 's1';
		this.connection = this.connect(options);
	}

	/** Another connection of the same session. */
	connect(options: Partial<ConnectionOptions> = {}): Connection {
		const readConnectRequest = (sessionId: string) => {
			this.#attempts++;
			const identity = buildIdentity(
				signatureOf(this.signature),
				undefined,
				this.clock.getWallMilliseconds(),
			);
			return Promise.resolve(
				buildConnectRequest(sessionId, credentialOf(this.proxy.address), identity),
			);
		};
		const environment = { clock: this.clock, random: this.#random, log: this.account.logger };
		return connect(
			{ ...standardOptions, sessionId: this.sessionId, ...options },
			readConnectRequest,
			this.account.listener,
			environment,
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

	/** Waits until the channel is open at both ends. */
	async opened(): Promise<this> {
		await until(() => this.isOpen && this.service.countOpenChannels(this.sessionId) > 0);
		return this;
	}

	/** Lets time pass between attempts, and none during one, until the condition holds or the channel is open at both ends. */
	async passing(condition: 'open' | (() => boolean)): Promise<void> {
		const isOpen = () => this.isOpen && this.service.countOpenChannels(this.sessionId) > 0;
		await until(() => {
			if (condition === 'open' ? isOpen() : condition()) return true;
			if (!this.isOpen && !this.isConnecting) this.clock.jump(1000);
			return false;
		});
	}

	/** Moves the clock forward and waits until what was due has happened. */
	async jump(milliseconds: number): Promise<void> {
		this.clock.jump(milliseconds);
		await turns(5);
	}

	/** Starts sending numbered messages. While there is no channel, the server keeps them. */
	startTraffic(): void {
		this.#traffic = setInterval(() => {
			if (this.service.countOpenChannels(this.sessionId) === 0) return;
			this.sent++;
			this.service.send(this.sessionId, { n: this.sent });
		}, pace);
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
			if (this.service.countOpenChannels(this.sessionId) > 0 && this.isOpen) {
				this.sent++;
				this.service.send(this.sessionId, { n: this.sent });
			}
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
	told(): string {
		const { ended, alerts, events, log } = this.account;
		const failures = [
			...ended.map(({ failure }) => failure),
			...alerts.map(({ failure }) => failure),
		];
		const texts = failures.map((failure) => [
			failure.message,
			failure.description,
			failure.stack,
			String(failure.cause),
		]);
		return JSON.stringify([ended, events, log, texts]);
	}

	/** Closes everything. @returns what is left: timers of the connection, channels at the server */
	async close(): Promise<{ timers: number; channels: number }> {
		this.stopTraffic();
		await this.connection.close();
		this.proxy.setWeather({ kind: 'fair' });
		await until(() => this.service.countOpenChannels() === 0);
		const left = { timers: this.clock.pending, channels: this.service.countOpenChannels() };
		await this.proxy.close();
		await this.service.close();
		return left;
	}
}
