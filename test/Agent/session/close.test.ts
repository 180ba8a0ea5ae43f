import { FakeSession } from './fakeSession';

describe('pause', () => {
	it('stops reading and pinging until resume', async () => {
		const session = await new FakeSession().opened();
		session.connection.pause();
		expect([session.network.last.paused, session.connection.status().state]).toEqual([true, 'paused']);
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
		expect([session.network.last.paused, session.connection.status().state]).toEqual([true, 'paused']);
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
			'in the slow lane',
			async (session) => {
				await session.clock.advance(0);
				session.network.last.refuse(302);
			},
		],
		[
			'when the server does not respond the close frame',
			async (session) => {
				await session.opened();
				session.network.last.answersClose = false;
			},
		],
	];

	it.each(whenever)('%s leaves no socket, no timer and no event, within 300 ms', async (_name, reach) => {
		const session = new FakeSession();
		await reach(session);
		const before = session.account.events.length + session.account.ended.length;
		const closed = Promise.all([session.connection.close(), session.connection.close()]);
		await session.clock.advance(300);
		await closed;
		expect([session.clock.pending, session.network.live]).toEqual([0, 0]);
		session.network.sockets.at(-1)?.text('late');
		await session.clock.advance(3_600_000);
		expect([session.connection.status().state, session.clock.pending, session.network.live]).toEqual([
			'closed',
			0,
			0,
		]);
		expect(session.account.messages).toEqual([]);
		expect(session.account.events.length + session.account.ended.length).toBe(before);
	});

	it('says goodbye with 1000', async () => {
		const session = await new FakeSession().opened();
		await session.connection.close();
		expect([session.network.last.closeCode, session.network.last.state]).toEqual([1000, 'gone']);
	});

	it('may come from within a listener', async () => {
		const session = await new FakeSession().opened();
		session.account.listener.message = () => void session.connection.close();
		session.network.last.text('1');
		session.network.last.text('2');
		await session.clock.advance(300);
		expect([session.clock.pending, session.network.live]).toEqual([0, 0]);
	});
});
