import { canaries, FakeSession } from './fakeSession';

const start = Date.UTC(2026, 0, 1);

describe('a session', () => {
	it('opens its channel and hands on numbered messages', async () => {
		const session = await new FakeSession().opened();
		expect(session.connection.status().state).toBe('open');
		session.network.last.text('{"a":1}');
		session.network.last.text('plain');
		const at = new Date(start).toISOString();
		expect(session.account.messages).toEqual([
			{
				sessionId: 's1',
				sequence: 1,
				receivedAt: at,
				format: 'json',
				message: { a: 1 },
				byteLength: 7,
				memoryBytes: 95,
			},
			{ sessionId: 's1', sequence: 2, receivedAt: at, format: 'text', message: 'plain', byteLength: 5 },
		]);
		expect(session.account.events).toEqual([
			{ sessionId: 's1', event: 'connected', at, gapMs: null, reason: null },
		]);
	});

	it('sends the initial message each time the channel opens', async () => {
		const session = await new FakeSession({ initialMessage: 'hello' }).opened();
		expect(session.network.last.sent).toEqual(['hello']);
		session.network.last.end();
		await session.clock.advance(1000);
		session.network.last.open();
		expect(session.network.sockets.map(({ sent }) => sent)).toEqual([['hello'], ['hello']]);
	});

	it('reads the credentials and the time anew at every attempt', async () => {
		const session = await new FakeSession().opened();
		session.network.last.end();
		session.signature = '0xreplaced';
		await session.clock.advance(5000);
		const [first, second] = session.network.sockets.map(({ query }) => query);
		expect(first?.get('signature')).toBe(canaries.signature);
		expect(second?.get('signature')).toBe('0xreplaced');
		expect(Number(first?.get('timestamp'))).toBe(start / 1000);
		expect(Number(second?.get('timestamp'))).toBe(start / 1000);
		expect(session.reads).toBe(2);
	});

	it('marks the first message after a gap, and only that one', async () => {
		const session = await new FakeSession().opened();
		session.network.last.text('1');
		await session.clock.advance(10_000);
		session.network.last.end();
		await session.clock.advance(500);
		session.network.last.open();
		session.network.last.text('2');
		session.network.last.text('3');
		expect(session.account.messages.map(({ sequence, gapMs }) => [sequence, gapMs])).toEqual([
			[1, undefined],
			[2, 500],
			[3, undefined],
		]);
		expect(session.account.events.map(({ event, gapMs, reason }) => [event, gapMs, reason])).toEqual([
			['connected', null, null],
			['disconnected', null, 'the connection was lost'],
			['reconnected', 500, 'the connection was lost'],
		]);
	});
});

it('a listener that throws changes nothing, and its text is not logged', async () => {
	const session = await new FakeSession().opened();
	session.account.listener.message = (message) => {
		throw new TypeError(`canary of a message ${JSON.stringify(message)}`);
	};
	session.network.last.text('{"canary":1}');
	session.network.last.text('2');
	expect(session.connection.status().state).toBe('open');
	expect(session.account.log.join()).toContain('TypeError');
	expect(session.account.log.join()).not.toContain('canary');
});
