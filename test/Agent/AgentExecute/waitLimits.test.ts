import { getEventListeners } from 'node:events';

import { NodeError } from '../../../nodes/core/errors';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import { networkReason } from '../session/fakeSocket';
import { begin } from './fakeWait';

test('a channel that is not open within 20 s fails the item, and nothing is sent', async () => {
	const { clock, channels, call, outcome } = begin();
	channels.status = { isOpen: false, lastFailure: undefined };
	await clock.advance(20_000);
	const message = 'The session channel did not open within 20 s';
	expect(await outcome).toMatchObject({ code: 504, message });
	expect(call).not.toHaveBeenCalled();
	expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
});

test.each(['before', 'while'])(
	'a stop %s the call waits for the end of a closing channel sends nothing',
	async (when) => {
		const { clock, channels, call, outcome, stop } = begin();
		channels.isClosing = () => {
			if (when === 'before') stop.abort();
			return true;
		};
		channels.open();
		await clock.advance(2000);
		stop.abort();
		expect(((await outcome) as NodeError).message).toContain('stopped');
		expect(call).not.toHaveBeenCalled();
		expect(clock.pending).toBe(0);
	},
);

test('and tells why the last attempt failed', async () => {
	const { clock, channels, outcome } = begin();
	const nobody = { code: 503, message: 'Nobody is there' };
	const lastFailure = new NodeError({ ...nobody, description: 'Look.' });
	channels.status = { isOpen: false, lastFailure };
	await clock.advance(20_000);
	expect(await outcome).toMatchObject({
		...nobody,
		description: expect.stringMatching(/^The agent was not started\. Look\. If/) as string,
	});
});

test('the limit of the opening is lifted when the channel is open', async () => {
	const { clock, channels, call, outcome, stop } = begin();
	await clock.advance(17_999);
	channels.open();
	await clock.advance(60_000);
	expect(call).toHaveBeenCalledTimes(1);
	channels.send('1');
	expect(await outcome).toMatchObject({ endReason: 'count', gapCause: undefined });
	expect([clock.pending, getEventListeners(stop.signal, 'abort')]).toEqual([0, []]);
});

test('attempts that fail meanwhile are no reason to give up', async () => {
	const { clock, channels, call } = begin();
	const closeReason = networkReason('ENOTFOUND');
	channels.end({ wasOpen: false, closeReason });
	channels.end({ wasOpen: false });
	channels.open();
	await clock.advance(2000);
	expect(call).toHaveBeenCalledTimes(1);
	channels.send('1');
});

test('a channel that was lost before the call, and stays away, is not open; no message can be missing', async () => {
	const { clock, channels, outcome } = begin();
	channels.open();
	channels.end();
	channels.status = { isOpen: false, lastFailure: new NodeError({ code: 503, message: 'Lost' }) };
	await clock.advance(20_000);
	const { message, description, details } = (await outcome) as NodeError;
	expect([message, description, details]).toEqual([
		'Lost',
		expect.stringMatching(/^The agent was not started\. If the service creates the session/),
		undefined,
	]);
});

test('a channel that opens at the last moment, and is not quiet in time, is not open', async () => {
	const { clock, channels, call, outcome } = begin();
	await clock.advance(19_900);
	channels.open();
	await clock.advance(100);
	expect(await outcome).toMatchObject({ code: 504 });
	expect(call).not.toHaveBeenCalled();
});

describe('the call goes out when the channel is open and', () => {
	const opened = async (more: Partial<WaitSettings> = {}) => {
		const begun = begin(more);
		await begun.clock.advance(0);
		begun.channels.open();
		/** Expects that the call goes out after this time, not before. */
		const expectCallAfter = async (milliseconds: number) => {
			await begun.clock.advance(milliseconds - 1);
			expect(begun.call).not.toHaveBeenCalled();
			await begun.clock.advance(1);
			expect(begun.call).toHaveBeenCalledTimes(1);
			begun.channels.send('1');
		};
		return { ...begun, expectCallAfter };
	};

	test('has been quiet for the settle time after the response to a ping', async () => {
		const { clock, channels, expectCallAfter } = await opened();
		await clock.advance(1000);
		channels.pong();
		await clock.advance(200);
		channels.send('greeting');
		await expectCallAfter(250);
	});

	test('has been open for 2 s, though it is never quiet', async () => {
		const { clock, channels, expectCallAfter } = await opened();
		channels.pong();
		for (let n = 0; n < 19; n++) {
			await clock.advance(100);
			channels.send('greeting');
		}
		await expectCallAfter(100);
	});

	test.each([{ heartbeatSeconds: 0 }, { pingText: 'ping' }])(
		'quiet at once, where it is not pinged: %j',
		async (options) => {
			const { expectCallAfter } = await opened(options);
			await expectCallAfter(250);
		},
	);
});

test('a timeout without any channel tells why', async () => {
	const { clock, channels, outcome } = begin({ openChannel: 'after' });
	const lastFailure = new NodeError({ code: 503, message: 'Nobody is there' });
	channels.status = { isOpen: false, lastFailure };
	await clock.advance(300_000);
	expect(await outcome).toMatchObject({
		code: 504,
		message: 'The wait for messages did not end within 300 s. Messages received: 0',
		description: expect.stringContaining('Nobody is there.') as string,
	});
});

test('attempts that fail do not end a long wait, but a refusal does', async () => {
	const { clock, channels, outcome } = begin({ waitTimeoutSeconds: 3600 });
	channels.open();
	await clock.advance(2000);
	const closeReason = networkReason('ENOTFOUND');
	for (let hour = 0; hour < 3; hour++) channels.end({ closeReason });
	let isOver = false;
	void outcome.then(() => (isOver = true));
	await clock.advance(1000);
	expect(isOver).toBe(false);
	channels.end({ decision: 'longBackoff' });
	expect(await outcome).toMatchObject({
		message: 'Lost',
		description: 'The agent was started, but its messages cannot be received.',
	});
});

test('a refusal before the first message fails a wait for silence, too', async () => {
	const { clock, channels, outcome } = begin({ waitUntil: 'silence', silenceSeconds: 5 });
	channels.open();
	await clock.advance(2000);
	channels.end({ decision: 'longBackoff' });
	expect(await outcome).toMatchObject({
		message: 'Lost',
		description: 'The agent was started, but its messages cannot be received.',
	});
});

/** The call is answered when the returned function is called. */
function holdBack(call: ReturnType<typeof begin>['call']) {
	let answer = () => {};
	call.mockReturnValue(new Promise<void>((resolve) => (answer = resolve)));
	return () => {
		answer();
	};
}

test('a refusal during the call no longer counts when the channel is open again', async () => {
	const { clock, channels, call, outcome } = begin();
	const answer = holdBack(call);
	channels.open();
	await clock.advance(2000);
	channels.end({ decision: 'longBackoff' });
	channels.open();
	answer();
	await clock.advance(0);
	channels.send('1');
	expect(await outcome).toMatchObject({ endReason: 'count', gapCause: { message: 'Lost' } });
});

describe('a refusal during the call, after a message, when the wait is for silence', () => {
	async function refuse(waitUntil: WaitSettings['waitUntil'] = 'silence') {
		const begun = begin({ waitUntil, silenceSeconds: 5 });
		const { clock, channels, call } = begun;
		const answer = holdBack(call);
		channels.open();
		await clock.advance(2000);
		channels.send('1');
		channels.end({ decision: 'longBackoff' });
		await clock.advance(60_000);
		return { ...begun, answer };
	}

	test('loses no message that comes when the channel is open again', async () => {
		const { clock, channels, outcome, answer } = await refuse();
		channels.open();
		channels.send('2');
		answer();
		await clock.advance(5000);
		expect(await outcome).toMatchObject({
			endReason: 'silence',
			gapCause: { message: 'Lost' },
			messages: [{ message: 1 }, { message: 2 }],
		});
	});

	test('ends the wait when the call is answered', async () => {
		const { outcome, answer } = await refuse();
		answer();
		expect(await outcome).toMatchObject({ endReason: 'silence', messages: [{ message: 1 }] });
	});

	test('fails the item where something else is waited for', async () => {
		const { outcome, answer } = await refuse('close');
		answer();
		expect(await outcome).toMatchObject({ code: 503, message: 'Lost' });
	});
});

describe('a call that fails when messages have come', () => {
	const ambiguous = new NodeError({ code: 504, message: 'No answer', outcome: 'unknown' });
	const carriedOut = new NodeError({ code: 502, message: 'Cut', outcome: 'done' });
	const refused = new NodeError({ code: 422, message: 'Refused' });
	const answered = { field: '', values: ['answer'] };
	const match: Partial<WaitSettings> = { waitUntil: 'match', matchCondition: answered };
	const failing: Partial<WaitSettings> = { failureCondition: answered };
	const kept = { messages: [{ message: 'answer' }] };
	const silence: Partial<WaitSettings> = { waitUntil: 'silence', silenceSeconds: 1 };

	/** @param meanwhile happens while the call runs */
	async function fails(
		error: Error,
		more: Partial<WaitSettings>,
		meanwhile: (begun: ReturnType<typeof begin>) => void = () => {},
	) {
		const begun = begin(more);
		const { clock, channels, call, outcome } = begun;
		call.mockImplementation(() => {
			channels.send('answer');
			meanwhile(begun);
			return Promise.reject(error);
		});
		await clock.advance(0);
		channels.open();
		channels.pong();
		await clock.advance(250);
		return await outcome;
	}

	test.each<[string, NodeError, Partial<WaitSettings>, object]>([
		['ambiguous, the match has come', ambiguous, match, { endReason: 'match' }],
		['carried out, the number has come', carriedOut, {}, { endReason: 'count' }],
		['ambiguous, the agent reports a failure', ambiguous, failing, { code: 500 }],
		['ambiguous, silence may be broken', ambiguous, silence, { code: 504 }],
		['not carried out', refused, match, { code: 422, details: kept }],
	])('%s', async (_, error, more, expected) => {
		expect(await fails(error, more)).toMatchObject(expected);
	});

	test('is a stop, where there was one', async () => {
		const stopping = ({ stop }: ReturnType<typeof begin>) => {
			stop.abort();
		};
		expect(await fails(ambiguous, match, stopping)).toMatchObject({ code: 504 });
	});

	test('tells how the channel was lost', async () => {
		const losing = ({ channels }: ReturnType<typeof begin>) => {
			channels.end();
		};
		expect(await fails(ambiguous, silence, losing)).toMatchObject({
			description: 'Lost. Messages may be missing.',
			details: { gap: true },
		});
		expect(await fails(ambiguous, silence)).toMatchObject({
			message: 'No answer',
			description: undefined,
		});
	});

	test('does not tell how the channel was closed after the end', async () => {
		const closing = ({ channels }: ReturnType<typeof begin>) => {
			const closeReason = { kind: 'closeFrame', code: 1001, reason: 'bye' } as const;
			channels.end({ closeReason });
		};
		expect(await fails(ambiguous, match, closing)).toMatchObject({
			endReason: 'match',
			closeFrame: undefined,
		});
	});

	test('is passed on, if it is a fault of our own', async () => {
		const fault = new TypeError('fault');
		expect(await fails(fault, match)).toBe(fault);
	});
});

describe('a stop of the execution', () => {
	const places = ['before', 'after'] as const;

	test.each(places)('that came before (channel %s the call)', async (openChannel) => {
		const stop = new AbortController();
		stop.abort();
		const { channels, outcome } = begin({ openChannel }, stop);
		expect(await outcome).toMatchObject({ message: 'The execution was stopped' });
		expect(channels.log).toEqual(['close s1']);
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
	});

	test('while the channel is opening: nothing was sent', async () => {
		const { clock, channels, call, outcome, stop } = begin();
		await clock.advance(1000);
		stop.abort();
		const description = 'The agent was not started.';
		expect(await outcome).toMatchObject({ description, outcome: 'notDone' });
		expect(call).not.toHaveBeenCalled();
		expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
	});

	test.each(places)(
		'while the messages are awaited (channel %s the call): the agent was started',
		async (openChannel) => {
			const { clock, channels, outcome, stop } = begin({ openChannel });
			await clock.advance(1000);
			channels.open();
			channels.pong();
			await clock.advance(250);
			stop.abort();
			const description =
				'The agent was started, but the node no longer waits for its messages.';
			expect(await outcome).toMatchObject({ description, outcome: 'done' });
			expect([channels.log, clock.pending]).toEqual([['close s1'], 0]);
		},
	);
});
