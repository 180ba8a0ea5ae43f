import {
	connect,
	type Connection,
	type ConnectionEvent,
	type ConnectionOptions,
	type EndedChannel,
} from '../../../nodes/Agent/session/connection';
import {
	parseAgentApiCredential,
	parseAgentSignatureCredential,
	buildIdentity,
} from '../../../nodes/Agent/session/credentials';
import {
	buildConnectRequest,
	type ConnectRequest,
	type EgressFilter,
} from '../../../nodes/Agent/session/connectRequest';
import {
	parseFrame,
	type SessionFrame,
	type SessionMessage,
} from '../../../nodes/Agent/session/messages';
import type { NodeError } from '../../../nodes/core/errors';
import { FakeClock } from './fakeClock';
import { FakeNetwork } from './fakeSocket';

/** A session with the options' defaults. */
export const standardOptions: ConnectionOptions = {
	sessionId: 's1',
	heartbeatSeconds: 25,
	pingText: '',
	initialMessage: '',
};

/** Values that must never be shown. */
export const canaries = {
	apiKey: 'canary-key-7f3a',
	signature: '0xcanarysignature91',
	userPublicKey: '0xcanarypublic55',
};

/** Builds a connect request to an address, with secrets. */
export function requestTo(
	webSocketUrl: string,
	sessionId: string,
	{ signature = canaries.signature, apiKey = canaries.apiKey } = {},
	egress?: EgressFilter,
): ConnectRequest {
	const api = parseAgentApiCredential({ webSocketUrl, apiKey });
	const signer = { userId: '0xuser', userPublicKey: canaries.userPublicKey, signature };
	const identity = buildIdentity(parseAgentSignatureCredential(signer));
	return buildConnectRequest(sessionId, api, identity, egress);
}

/** What a connection told its listener and its log. */
export class Account {
	readonly messages: Array<SessionMessage & { readonly gapMs: number | undefined }> = [];
	/** The gap that the next message tells. */
	#gapMs: number | undefined;
	readonly events: ConnectionEvent[] = [];
	readonly ended: EndedChannel[] = [];
	readonly alerts: NodeError[] = [];
	readonly log: string[] = [];

	readonly listener = {
		onFrame: (frame: SessionFrame) => {
			this.messages.push({ ...parseFrame(frame), gapMs: this.#gapMs });
			this.#gapMs = undefined;
		},
		onEvent: (event: ConnectionEvent) => {
			this.events.push(event);
			if (event.gapMs !== null) this.#gapMs = (this.#gapMs ?? 0) + event.gapMs;
		},
		onChannelEnd: (channel: EndedChannel) => {
			this.ended.push(channel);
			if (channel.mustAlert) this.alerts.push(channel.failure);
		},
	};

	readonly logger = {
		debug: (text: string) => void this.log.push(`debug ${text}`),
		info: (text: string) => void this.log.push(`info ${text}`),
		warn: (text: string) => void this.log.push(`warn ${text}`),
	};
}

/** A connection on a fake network and a fake clock. */
export class FakeSession {
	readonly clock = new FakeClock();
	readonly network = new FakeNetwork();
	readonly account = new Account();
	/** How often the credentials were read. */
	reads = 0;
	signature = canaries.signature;
	/** The random number that every delay gets. */
	drawn = 0.5;
	egress: EgressFilter | undefined;
	/** Replaces the reading of the credentials. */
	onRead = async () => {
		await Promise.resolve();
	};
	readonly connection: Connection;

	constructor(options: Partial<ConnectionOptions> = {}) {
		const readConnectRequest = async (sessionId: string) => {
			this.reads++;
			await this.onRead();
			const { signature, egress } = this;
			return requestTo('ws://agent.example:3010', sessionId, { signature }, egress);
		};
		this.connection = connect(
			{ ...standardOptions, ...options },
			readConnectRequest,
			this.account.listener,
			{
				clock: this.clock,
				random: () => this.drawn,
				loadSocketOpener: this.network.loadSocketOpener,
				log: this.account.logger,
			},
		);
	}

	/** Lets the next attempt open its channel. */
	async opened(): Promise<this> {
		await this.clock.advance(0);
		this.network.last.open();
		return this;
	}
}
