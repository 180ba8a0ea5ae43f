import { canaries, FakeSession } from './fakeSession';

describe('reconnecting', () => {
	it('starts anew after 5 s with a message, not when the channel opens, nor with its first message', async () => {
		const session = await new FakeSession({ heartbeatSeconds: 0 }).opened();
		session.network.onSocket = (socket) => {
			socket.open();
			socket.text('hello');
		};
		for (const wait of [500, 1000, 2000, 4000, 8000]) {
			session.network.last.end(1000);
			await session.clock.advance(wait);
		}
		const delays = () => session.account.ended.map(({ retryInMilliseconds }) => retryInMilliseconds);
		expect(delays()).toEqual([500, 1000, 2000, 4000, 8000]);
		await session.clock.advance(5000);
		session.network.last.end(1000);
		expect(delays().at(-1)).toBe(500);
	});

	it('starts anew after 30 s of a stable channel', async () => {
		const session = await new FakeSession({ heartbeatSeconds: 0 }).opened();
		session.network.last.end();
		await session.clock.advance(500);
		session.network.last.open();
		await session.clock.advance(29_000);
		session.network.last.end();
		await session.clock.advance(1000);
		session.network.last.open();
		await session.clock.advance(30_000);
		session.network.last.end();
		expect(session.account.ended.map(({ retryInMilliseconds }) => retryInMilliseconds)).toEqual([
			500, 1000, 500,
		]);
	});

	it('never has more than one socket or one pending attempt', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.fail('ECONNREFUSED');
		};
		await session.clock.advance(10 * 60_000);
		expect(session.network.sockets.length).toBeGreaterThan(10);
		expect([session.network.live, session.clock.pending]).toEqual([0, 1]);
	});

	it('gives an attempt 20 s in all, however busy the handshake looks', async () => {
		const session = new FakeSession();
		await session.clock.advance(19_999);
		expect(session.account.ended).toEqual([]);
		await session.clock.advance(1);
		expect(session.account.ended.map(({ ending }) => ending.kind)).toEqual(['connectTimeout']);
		expect(session.network.last.terminated).toBe(true);
		session.network.last.open();
		expect(session.connection.status().state).toBe('backoff');
	});

	it.each([
		['fails', () => Promise.reject(new Error(`no credential ${canaries.signature}`))],
		['hangs', () => new Promise<void>(() => {})],
	])('tries again when reading the credentials %s', async (_name, onRead) => {
		const session = await new FakeSession().opened();
		session.onRead = onRead;
		session.network.last.end();
		await session.clock.advance(25_000);
		expect(session.account.ended.at(-1)?.ending.kind).toBe('credentials');
		session.onRead = () => Promise.resolve();
		await session.clock.advance(60_000);
		session.network.last.open();
		expect(session.connection.status()).toMatchObject({ state: 'open', attempts: 0 });
	});

	it('drops credentials that were read too late', async () => {
		const session = new FakeSession();
		let give = () => {};
		session.onRead = () => new Promise((resolve) => (give = resolve));
		await session.clock.advance(20_000);
		give();
		session.onRead = () => Promise.resolve();
		await session.clock.advance(0);
		expect(session.network.sockets).toEqual([]);
		await session.clock.advance(1000);
		expect(session.network.sockets.length).toBe(1);
	});

	it('notices within 45 s that the server died, and counts the gap from its last sign of life', async () => {
		const session = await new FakeSession().opened();
		session.network.last.onPing = () => {
			session.network.last.listener.control('pong');
		};
		session.network.last.listener.control('pong');
		await session.clock.advance(60_000);
		session.network.last.onPing = () => {};
		session.network.onSocket = (socket) => {
			socket.open();
		};
		await session.clock.advance(45_500);
		expect(session.account.ended.map(({ ending }) => ending.kind)).toEqual(['silent']);
		session.network.last.text('back');
		expect(session.account.messages[0]?.gapMs).toBe(45_500);
	});

	it('sums up the gaps that no message has told of', async () => {
		const session = await new FakeSession().opened();
		for (const wait of [500, 1000]) {
			session.network.last.end();
			await session.clock.advance(wait);
			session.network.last.open();
		}
		session.network.last.text('1');
		expect(session.account.messages[0]?.gapMs).toBe(1500);
	});

	it.each([
		['pings', {}, 2, []],
		['text pings', { pingText: 'are you there' }, 0, ['are you there', 'are you there']],
		['nothing', { heartbeatSeconds: 0 }, 0, []],
	])('sends %s', async (_name, options, pings, sent) => {
		const session = await new FakeSession(options).opened();
		await session.clock.advance(pings === 0 ? 50_000 : 25_000);
		expect([session.network.last.pings, session.network.last.sent]).toEqual([pings, sent]);
	});
});
