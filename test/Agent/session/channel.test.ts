import { type AgentService, startAgentService } from '../../../dev/agent-service/server';
import { connect, type ConnectionOptions } from '../../../nodes/Agent/session/connection';
import { buildConnectRequest } from '../../../nodes/Agent/session/connectRequest';
import { buildIdentity } from '../../../nodes/Agent/session/credentials';
import { systemClock } from '../../../nodes/core/clock';
import type { CloseReason } from '../../../nodes/Agent/session/closeReason';
import { FakeClock } from './fakeClock';
import { Account, credentialOf, FakeSession, signatureOf, standardOptions } from './fakeSession';
import { until } from './tap';

let service: AgentService;

beforeEach(async () => {
	service = await startAgentService();
});
afterEach(async () => {
	await service.close();
});

/** A connection on a real socket, and what it told. */
function openChannel(settings: Partial<ConnectionOptions> = {}, clock = new FakeClock()) {
	const told = {
		...{ opened: 0, pongs: 0, clock },
		...{ messages: [] as string[], endings: [] as CloseReason[] },
	};
	const api = { ...credentialOf(service.webSocketUrl), apiKey: 'test-api-key' };
	const identity = buildIdentity(signatureOf('canary-signature'));
	const channel = connect(
		{ ...standardOptions, ...settings },
		(sessionId) => Promise.resolve(buildConnectRequest(sessionId, api, identity)),
		{
			onEvent: ({ event }) => {
				if (event !== 'disconnected') told.opened++;
			},
			onPong: () => told.pongs++,
			onFrame: ({ data }) => told.messages.push(data.toString()),
			onChannelEnd: ({ closeReason }) => told.endings.push(closeReason),
		},
		{ clock, log: new Account().logger },
	);
	const begun = clock.advance(0);
	return {
		channel,
		told,
		isOpen: () => begun.then(() => until(() => told.opened === 1)),
		isOver: () => begun.then(() => until(() => told.endings.length === 1)),
	};
}

describe('a channel on a real socket', () => {
	it('opens, pings, says what it is told to say, and closes with 1000', async () => {
		const { channel, told, isOpen } = openChannel({ initialMessage: 'hello' });
		await isOpen();
		await until(() => service.pings.get('s1') === 1 && service.received.length === 1);
		expect(service.received.map(({ data }) => data.toString())).toEqual(['hello']);
		const [peer] = service.getChannels('s1');
		const code = new Promise((resolve) => peer?.on('close', resolve));
		await channel.close();
		expect(await code).toBe(1000);
		expect([told.endings, told.clock.pending]).toEqual([[], 0]);
	});

	it.each(['silence', 'trickle'] as const)(
		'gives up a handshake with %s after 15 s',
		async (fault) => {
			service.scriptUpgrades({ fault });
			const { channel, told } = openChannel();
			await until(() => service.upgrades.length === 1);
			await told.clock.advance(14_999);
			expect(told.endings).toEqual([]);
			await told.clock.advance(1);
			expect(told.endings).toEqual([{ kind: 'connectTimeout' }]);
			await channel.close();
		},
	);

	it('ends when the server stops answering pings, and leaves nothing at the server', async () => {
		const { channel, told, isOpen } = openChannel();
		await isOpen();
		await until(() => told.pongs === 1);
		const [peer] = service.getChannels('s1');
		peer?.pause();
		await told.clock.advance(45_000);
		expect(told.endings).toEqual([{ kind: 'silent', milliseconds: 45_000 }]);
		await channel.close();
		peer?.resume();
		await until(() => service.countOpenChannels() === 0);
	});

	it('drops what a cut socket still delivers', async () => {
		const { channel, told, isOpen } = openChannel();
		await isOpen();
		channel.pause();
		service.send('s1', 'first', 'second');
		await new Promise((resolve) => setTimeout(resolve, 50));
		await channel.close();
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(told.messages).toEqual([]);
	});

	it.each(['open', 'paused', 'connecting'])(
		'closes for good although the server ignores it (%s)',
		async (state) => {
			if (state === 'connecting') service.scriptUpgrades({ fault: 'silence' });
			const { channel, told, isOpen } = openChannel(
				{},
				Object.assign(new FakeClock(), systemClock),
			);
			await (state === 'connecting' ? until(() => service.upgrades.length === 1) : isOpen());
			for (const peer of service.getChannels()) peer.pause();
			if (state === 'paused') channel.pause();
			await Promise.all([channel.close(), channel.close()]);
			for (const peer of service.getChannels()) peer.resume();
			await until(() => service.countOpenChannels() === 0);
			expect(told.endings).toEqual([]);
		},
	);

	it.each([
		['tooLarge', 'x'.repeat(16 * 1024 * 1024 + 1)],
		['malformed', { frame: Buffer.from([0xff]), binary: false }],
	])('ends with %s', async (kind, message) => {
		const { told, isOver } = openChannel();
		service.scriptUpgrades({ messages: [message] });
		await isOver();
		expect(told.endings[0]?.kind).toBe(kind);
	});

	it('shows no secret that a server repeats', async () => {
		service.scriptUpgrades(
			{
				status: 401,
				body: 'canary-signature is not for test-api-key',
				headers: { Location: '/x?apiKey=test-api-key' },
			},
			{ closeCode: 4401, closeReason: 'canary-signature expired' },
		);
		for (const kind of ['response', 'closeFrame']) {
			const { told, isOver } = openChannel();
			await isOver();
			expect(told.endings[0]?.kind).toBe(kind);
			expect(JSON.stringify(told.endings)).not.toMatch(/canary|test-api-key/);
		}
	});
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
	it('stops reading and pinging until resume', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		expect([session.network.last.paused, session.connection.getStatus().isOpen]).toEqual([
			true,
			true,
		]);
		await session.clock.advance(600_000);
		expect([session.network.last.pings, session.network.sockets.length]).toEqual([1, 1]);
		session.connection.resume();
		expect([session.network.last.paused, session.network.last.pings]).toEqual([false, 2]);
	});

	it('holds for the next channel too', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		session.network.last.fail('ECONNRESET');
		await session.clock.advance(500);
		session.network.last.open();
		expect([session.network.last.paused, session.connection.getStatus().isOpen]).toEqual([
			true,
			true,
		]);
		await session.clock.advance(600_000);
		expect([session.network.last.pings, session.network.sockets.length]).toEqual([0, 2]);
		for (let times = 0; times < 2; times++) session.connection.resume();
		expect([session.network.last.paused, session.network.last.pings]).toEqual([false, 1]);
	});

	it('still hands on what the socket had read', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		session.network.last.text('1');
		expect(session.account.messages.length).toBe(1);
	});
});

describe('close', () => {
	const whenever: [string, (session: FakeSession) => Promise<void>][] = [
		['before the first attempt', () => Promise.resolve()],
		[
			'while the credentials are read',
			async (session) => {
				session.onRead = () => new Promise<void>(() => {});
				await session.clock.advance(0);
			},
		],
		['while connecting', (session) => session.clock.advance(0)],
		[
			'while open',
			async (session) => {
				await session.opened();
			},
		],
		[
			'while paused',
			async (session) => {
				await session.opened();
				session.connection.pause();
			},
		],
		[
			'while waiting',
			async (session) => {
				await session.clock.advance(0);
				session.network.last.fail('ECONNREFUSED');
			},
		],
		[
			'in the long backoff',
			async (session) => {
				await session.clock.advance(0);
				session.network.last.refuse(302);
				await session.clock.advance(2000);
				session.network.last.refuse(302);
			},
		],
		[
			'when the server did not respond the close frame',
			async (session) => {
				await session.opened();
				session.network.last.answersClose = false;
			},
		],
	];

	it.each(whenever)(
		'%s leaves no socket, no timer and no event, within 300 ms',
		async (_name, reach) => {
			const session = new FakeSession();
			await reach(session);
			const before = session.account.events.length + session.account.ended.length;
			const closed = Promise.all([session.connection.close(), session.connection.close()]);
			await session.clock.advance(300);
			await closed;
			expect([session.clock.pending, session.network.live]).toEqual([0, 0]);
			session.network.sockets.at(-1)?.text('late');
			await session.clock.advance(3_600_000);
			expect([
				session.connection.getStatus().isOpen,
				session.clock.pending,
				session.network.live,
			]).toEqual([false, 0, 0]);
			expect(session.account.messages).toEqual([]);
			expect(session.account.events.length + session.account.ended.length).toBe(before);
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
		expect([isRead(), session.account.messages.length, session.clock.pending]).toEqual([
			false,
			10,
			0,
		]);
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

	it('says goodbye with 1000', async () => {
		const session = await new FakeSession().opened();
		await session.connection.close();
		expect([session.network.last.closeCode, session.network.last.state]).toEqual([
			1000,
			'gone',
		]);
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
