import { type AgentService, startAgentService } from '../../../dev/agent-service/server';
import { connect, type ConnectionOptions } from '../../../nodes/Agent/session/connection';
import { FakeClock } from './fakeClock';
import { Account, FakeSession, requestTo, standardOptions } from './fakeSession';
import { until } from './tap';

let service: AgentService;

/** A connection on a real socket, and what it told. */
function openChannel(settings: Partial<ConnectionOptions> = {}) {
	const clock = new FakeClock();
	const account = new Account();
	const { webSocketUrl, apiKey } = service;
	const channel = connect(
		{ ...standardOptions, ...settings },
		(sessionId) => Promise.resolve(requestTo(webSocketUrl, sessionId, { apiKey })),
		account.listener,
		{ clock, log: account.logger },
	);
	return { channel, account, clock };
}

describe('a channel on a real socket', () => {
	beforeEach(async () => {
		service = await startAgentService();
	});
	afterEach(async () => {
		await service.close();
	});

	it('opens, pings, says what it is told to say, and closes with 1000', async () => {
		const { channel, account, clock } = openChannel({ initialMessage: 'hello' });
		await clock.advance(0);
		await until(() => service.pings.get('s1') === 1 && service.received.length === 1);
		expect(service.received.map(({ data }) => data.toString())).toEqual(['hello']);
		const [peer] = service.getChannels('s1');
		const code = new Promise((resolve) => peer?.on('close', resolve));
		await channel.close();
		expect(await code).toBe(1000);
		expect([account.ended, clock.pending]).toEqual([[], 0]);
	});

	it.each(['silence', 'trickle'] as const)(
		'gives up a handshake with %s after 15 s',
		async (fault) => {
			service.scriptUpgrades({ fault });
			const { channel, account, clock } = openChannel();
			await clock.advance(0);
			await until(() => service.upgrades.length === 1);
			await clock.advance(14_999);
			expect(account.ended).toEqual([]);
			await clock.advance(1);
			expect(account.ended).toMatchObject([{ closeReason: { kind: 'connectTimeout' } }]);
			await channel.close();
		},
	);
});

describe('an open channel', () => {
	it('tells that a pong came', async () => {
		const session = await new FakeSession().opened();
		let answered = 0;
		Object.assign(session.account.listener, { onPong: () => answered++ });
		const counts = (['ping', 'pong', 'pong'] as const).map((kind) => {
			session.network.last.listener.onControlFrame(kind);
			return answered;
		});
		expect(counts).toEqual([0, 1, 2]);
	});
});

describe('pause', () => {
	/** Whether the channel reads nothing, whether it is open, its pings, and the sockets so far. */
	const stateOf = ({ connection, network }: FakeSession) => {
		const { paused, pings } = network.last;
		return [paused, connection.getStatus().isOpen, pings, network.sockets.length];
	};

	it('stops reading and pinging until resume', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		await session.clock.advance(600_000);
		expect(stateOf(session)).toEqual([true, true, 1, 1]);
		session.connection.resume();
		expect(stateOf(session)).toEqual([false, true, 2, 1]);
	});

	it('holds for the next channel too, and still hands on what the socket had read', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		session.network.last.fail('ECONNRESET');
		await session.clock.advance(500);
		session.network.last.open();
		await session.clock.advance(600_000);
		expect(stateOf(session)).toEqual([true, true, 0, 2]);
		session.network.last.text('1');
		expect(session.account.messages.length).toBe(1);
		for (let times = 0; times < 2; times++) session.connection.resume();
		expect(stateOf(session)).toEqual([false, true, 1, 2]);
	});
});

describe('close', () => {
	const connecting = (session: FakeSession) => session.clock.advance(0);
	const open = (session: FakeSession) => session.opened();

	/** What has happened before. */
	const before: Record<string, (session: FakeSession) => unknown> = {
		'before the first attempt': () => undefined,
		'while the credentials are read': async (session) => {
			session.onRead = () => new Promise<void>(() => {});
			await connecting(session);
		},
		'while connecting': connecting,
		'while open': open,
		'while paused': async (session) => {
			await open(session);
			session.connection.pause();
		},
		'while waiting': async (session) => {
			await connecting(session);
			session.network.last.fail('ECONNREFUSED');
		},
		'in the long backoff': async (session) => {
			await connecting(session);
			session.network.last.refuse(302);
			await session.clock.advance(2000);
			session.network.last.refuse(302);
		},
		'when the server did not respond the close frame': async (session) => {
			await open(session);
			session.network.last.answersClose = false;
		},
	};

	it.each(Object.entries(before))(
		'%s leaves no socket, no timer and no event, within 300 ms',
		async (_name, reach) => {
			const session = new FakeSession();
			await reach(session);
			const { connection, clock, network, account } = session;
			const left = () => [connection.getStatus().isOpen, clock.pending, network.live];
			const eventCount = account.events.length + account.ended.length;
			const closed = Promise.all([connection.close(), connection.close()]);
			await clock.advance(300);
			await closed;
			expect(left()).toEqual([false, 0, 0]);
			network.sockets.at(-1)?.text('late');
			await clock.advance(3_600_000);
			expect(left()).toEqual([false, 0, 0]);
			expect(account.messages).toEqual([]);
			expect(account.events.length + account.ended.length).toBe(eventCount);
		},
	);

	it('waits 200 ms for the other side, then 50 ms for a socket that it has cut', async () => {
		const session = await new FakeSession().opened();
		const socket = session.network.last;
		socket.answersClose = false;
		let cuts = 0;
		socket.terminate = () => cuts++;
		let isClosed = false;
		void session.connection.close().then(() => (isClosed = true));
		await session.clock.advance(199);
		expect(cuts).toBe(0);
		await session.clock.advance(1);
		expect(cuts).toBe(1);
		await session.clock.advance(49);
		expect(isClosed).toBe(false);
		await session.clock.advance(1);
		expect(isClosed).toBe(true);
		expect(session.clock.pending).toBe(0);
	});

	/** A server that sends a message every 100 ms, and does not answer the close frame. */
	async function talking(milliseconds: number) {
		const session = await new FakeSession().opened();
		session.network.last.answersClose = false;
		let isRead: boolean | undefined;
		void session.connection.close('the end of the test').then((all) => (isRead = all));
		for (let n = 1; n <= milliseconds / 100; n++) {
			await session.clock.advance(99);
			session.network.last.text(`${n}`);
			await session.clock.advance(1);
		}
		return { session, isRead: () => isRead };
	}

	it('takes what the server still sends, for a second', async () => {
		const { session, isRead } = await talking(1000);
		session.network.last.text('too late');
		await session.clock.advance(0);
		expect(session.network.last.terminated).toBe(true);
		await session.clock.advance(50);
		expect([isRead(), session.account.messages.length]).toEqual([false, 10]);
		expect(session.clock.pending).toBe(0);
	});

	it('takes it until 200 ms without a message', async () => {
		const { session, isRead } = await talking(500);
		// It looks every 200 ms: after 600 and 800.
		await session.clock.advance(299);
		expect(session.network.last.terminated).toBe(false);
		await session.clock.advance(1);
		expect(session.network.last.terminated).toBe(true);
		await session.clock.advance(50);
		expect([isRead(), session.account.messages.length]).toEqual([true, 5]);
	});

	it('before there is a channel has nothing to read', async () => {
		expect(await new FakeSession().connection.close('the end of the test')).toBe(true);
	});

	it('may come from within a listener', async () => {
		const session = await new FakeSession().opened();
		session.account.listener.onFrame = () => void session.connection.close();
		session.network.last.text('1');
		session.network.last.text('2');
		await session.clock.advance(300);
		expect([session.clock.pending, session.network.live]).toEqual([0, 0]);
	});
});
