import { FakeSession, canaries } from './fakeSession';

const start = Date.UTC(2026, 0, 1);

describe('a session', () => {
	it('opens its channel and hands on numbered messages', async () => {
		const session = await new FakeSession().opened();
		expect(session.connection.status().state).toBe('open');
		session.network.last.text('{"a":1}');
		session.network.last.text('plain');
		const at = new Date(start).toISOString();
		expect(session.account.messages).toEqual([
			{ sessionId: 's1', sequence: 1, receivedAt: at, format: 'json', message: { a: 1 }, byteLength: 7 },
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
			['disconnected', null, 'the connection broke off'],
			['reconnected', 500, 'the connection broke off'],
		]);
	});
});

describe('reconnecting', () => {
	it('starts anew after the first message, not when the channel opens', async () => {
		const session = await new FakeSession().opened();
		session.network.onSocket = (socket) => {
			socket.open();
		};
		for (const wait of [500, 1000, 2000, 4000, 8000]) {
			session.network.last.end(1000);
			await session.clock.advance(wait);
		}
		const delays = () => session.account.ended.map(({ retryInMilliseconds }) => retryInMilliseconds);
		expect(delays()).toEqual([500, 1000, 2000, 4000, 8000]);
		session.network.last.text('hello');
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
		await session.clock.advance(24 * 3_600_000);
		expect(session.connection.status()).toMatchObject({
			state: 'slow',
			lastFailure: { code: 403, status: 'PERMISSION_DENIED' },
		});
		expect(session.network.sockets.length).toBeGreaterThan(24 * 4);
		expect(session.network.sockets.length).toBeLessThan(24 * 12 + 2);
		expect(session.account.alerts.map(({ kind }) => kind)).toEqual(['refused']);
		expect(session.account.alerts[0]?.failure.description).toContain('90 seconds ahead');
	});

	it('ends with a channel that stays; the next one is alerted again', async () => {
		const session = new FakeSession({ heartbeatSeconds: 0 });
		const refuse = () => {
			session.network.onSocket = (socket) => {
				socket.refuse(401);
			};
		};
		refuse();
		await session.clock.advance(5000);
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
		await session.clock.advance(2000);
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
		expect(session.network.sockets.length).toBeLessThan(15);
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
			'when the server does not answer the close frame',
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
