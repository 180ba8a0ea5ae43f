import { ExpressionError } from 'n8n-workflow';

import { canaries, FakeSession } from './fakeSession';

describe('a refusal', () => {
	it('is tried once more at once with fresh credentials, which may end it', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.refuse(401);
		};
		await session.clock.advance(0);
		session.signature = '0xreplaced';
		session.network.onSocket = (socket) => {
			socket.open();
		};
		await session.clock.advance(2000);
		expect(session.connection.status().state).toBe('open');
		expect(session.network.last.query.get('signature')).toBe('0xreplaced');
		expect(session.account.alerts).toEqual([]);
	});

	it('that comes again leaves the slow lane, which never stops, and one alert', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.refuse(
				403,
				{ date: new Date(session.clock.wallMilliseconds() + 90_000).toUTCString() },
				`no ${canaries.apiKey}`,
			);
		};
		await session.clock.advance(10_000);
		expect(session.account.alerts).toHaveLength(1);
		await session.clock.advance(24 * 3_600_000);
		expect(session.connection.status()).toMatchObject({
			state: 'slow',
			lastFailure: { code: 403, status: 'PERMISSION_DENIED' },
		});
		expect(session.network.sockets.length).toBeGreaterThan(24 * 4);
		expect(session.network.sockets.length).toBeLessThan(24 * 8 + 10);
		expect(session.account.alerts.map(({ kind }) => kind)).toEqual(['refused']);
		expect(session.account.alerts[0]?.failure.description).toContain('90 seconds ahead');
	});

	it('by a mistake in the credentials is alerted at once', async () => {
		const session = new FakeSession();
		session.onRead = () => Promise.reject(new ExpressionError('access to env vars denied'));
		await session.clock.advance(0);
		expect(session.connection.status().state).toBe('slow');
		expect(session.account.alerts).toMatchObject([
			{
				kind: 'refused',
				failure: {
					message:
						'The channel of session s1 is not open: the credentials could not be read: access to env vars denied',
					description: expect.stringContaining('N8N_BLOCK_ENV_ACCESS_IN_NODE') as string,
				},
			},
		]);
	});

	it('ends with a channel that stays; the next one is alerted again', async () => {
		const session = new FakeSession({ heartbeatSeconds: 0 });
		const refuse = () => {
			session.network.onSocket = (socket) => {
				socket.refuse(401);
			};
		};
		refuse();
		await session.clock.advance(30_000);
		expect(session.connection.status().state).toBe('slow');
		session.network.onSocket = (socket) => {
			socket.open();
		};
		await session.clock.advance(15 * 60_000);
		expect(session.connection.status().state).toBe('open');
		await session.clock.advance(30_000);
		refuse();
		session.network.last.end();
		await session.clock.advance(500);
		expect(session.connection.status().state).toBe('backoff');
		await session.clock.advance(10_000);
		expect(session.account.alerts.map(({ kind }) => kind)).toEqual(['refused', 'refused']);
	});

	it('right after the handshake (accept, then close) does not hammer', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.open();
			socket.text('{"error":"bad signature"}');
			socket.end(4401, `bad ${canaries.signature}`);
		};
		await session.clock.advance(3_600_000);
		expect(session.network.sockets.length).toBeLessThan(16);
		expect(session.account.alerts.length).toBe(1);
	});
});

describe('an outage', () => {
	it('is alerted once after 5 minutes', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.fail('ECONNREFUSED');
		};
		await session.clock.advance(5 * 60_000 - 1);
		expect(session.account.alerts).toEqual([]);
		await session.clock.advance(3_600_000);
		expect(session.account.alerts.map(({ kind, failure }) => [kind, failure.code])).toEqual([
			['outage', 503],
		]);
	});

	it('is not over with a message of a channel that does not stay', async () => {
		const session = new FakeSession();
		session.network.onSocket = (socket) => {
			socket.open();
			socket.text('{"type":"hello"}');
			socket.end(1000);
		};
		await session.clock.advance(40_000);
		expect(session.network.sockets.length).toBeLessThan(10);
		await session.clock.advance(5 * 60_000);
		expect(session.account.alerts).toMatchObject([
			{ kind: 'outage', failure: { message: expect.stringContaining('session s1') as string } },
		]);
	});

	it('is one warning in the log, details, and one recovery', async () => {
		const session = await new FakeSession().opened();
		session.network.onSocket = (socket) => {
			socket.fail('ECONNREFUSED');
		};
		session.network.last.end();
		await session.clock.advance(3000);
		session.network.onSocket = (socket) => {
			socket.open();
		};
		await session.clock.advance(10_000);
		expect(session.account.log.map((line) => line.split(' ')[0])).toEqual(['warn', 'debug', 'debug', 'info']);
	});
});
