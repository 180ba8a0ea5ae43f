import type { ReceivedUpgrade } from '../../../dev/agent-service/options.ts';
import { Station } from '../station.ts';
import { pause, until } from '../waiting.ts';
import { Line, type Manner, manners } from './line.ts';

export const lineCounts: Readonly<Record<Manner, number>> = { waits: 10, repeats: 10, streams: 1 };

/** Seconds between two messages of a session that does not stream. */
export const paceSeconds = 2;
const stream = { everyMilliseconds: 20, messages: 10 };
/** Like a service in the same country, so that some data is always in transit. */
export const distance = { kind: 'delay', milliseconds: 20, jitterMilliseconds: 5 } as const;
export const streamedPerSecond = (stream.messages / stream.everyMilliseconds) * 1000;

/** Sessions of every kind of server, each with its own workflow, and the traffic on them. */
export class World {
	readonly station: Station;
	readonly lines: readonly Line[];
	readonly #traffic: NodeJS.Timeout[] = [];

	static async open(): Promise<World> {
		const lines: Line[] = [];
		const upgrade = ({ query }: ReceivedUpgrade) =>
			lines.find(({ sessionId }) => sessionId === query.sessionId)?.answer();
		const station = await Station.start({ upgrade, keepLog: false });
		for (const manner of manners) {
			for (let n = 0; n < lineCounts[manner]; n++)
				lines.push(new Line(`${manner} ${n}`, manner, () => station.service.port));
		}
		return new World(station, lines);
	}

	constructor(station: Station, lines: readonly Line[]) {
		this.station = station;
		this.lines = lines;
	}

	startTraffic(): void {
		const slow = this.lines.filter(({ manner }) => manner !== 'streams');
		let turn = 0;
		const next = () => slow[turn++ % slow.length]?.make(this.station.service);
		this.#traffic.push(setInterval(next, (paceSeconds * 1000) / slow.length));
		for (const line of this.lines.filter(({ manner }) => manner === 'streams')) {
			const more = () => {
				line.make(this.station.service, stream.messages);
			};
			this.#traffic.push(setInterval(more, stream.everyMilliseconds));
		}
	}

	stopTraffic(): void {
		for (const timer of this.#traffic.splice(0)) clearInterval(timer);
	}

	/** Waits until every session has this many channels. */
	async untilOpen(channels = 1): Promise<void> {
		const { service } = this.station;
		const isOpen = ({ sessionId }: Line) => service.openSockets(sessionId) === channels;
		await until(`${channels} channel(s) of every session`, () => this.lines.every(isOpen));
	}

	/** Waits until every session has opened a new channel since that time. */
	async untilReopened(since: number): Promise<void> {
		const isBack = ({ openings }: Line) => openings.some((at) => at >= since);
		await until('a new channel of every session', () => this.lines.every(isBack));
		await pause(100);
	}

	async close(): Promise<void> {
		this.stopTraffic();
		await this.station.remove();
		for (const { proxy } of this.lines) await proxy.close();
	}

	/** Publishes a workflow for each session. */
	async publish(): Promise<void> {
		for (const line of this.lines) {
			await line.proxy.listen();
			if (line.manner === 'streams') line.proxy.weather = distance;
			const options = { connectionEvents: true, ...ownOptions[line.manner] };
			const webSocketUrl = line.proxy.address;
			line.workflow = await this.station.ours(line.sessionId, options, { webSocketUrl });
		}
	}
}

const ownOptions: Readonly<Record<Manner, object>> = {
	waits: {},
	repeats: { deduplicationField: 'id' },
	streams: { batchSize: 500, batchWaitMilliseconds: 500 },
};
