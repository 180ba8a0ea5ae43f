import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

import { systemClock } from '../../nodes/core/clock';

test('a wait of more than 24 days, which Node would end at once, does not end before', () => {
	jest.useFakeTimers();
	try {
		const call = jest.fn();
		const cancel = systemClock.callAfter(3e9, call);
		jest.advanceTimersByTime(24 * 86_400_000);
		expect(call).not.toHaveBeenCalled();
		cancel();
	} finally {
		jest.useRealTimers();
	}
});

describe('with a process that is busy when the time is over', () => {
	const stall = (milliseconds: number) => {
		const end = performance.now() + milliseconds;
		while (performance.now() < end);
	};

	/** The two ends of a connection. */
	async function openPair() {
		const server = createServer().listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as { port: number };
		const near = connect(port, '127.0.0.1');
		const [[far]] = await Promise.all([
			once(server, 'connection') as Promise<[Socket]>,
			once(near, 'connect'),
		]);
		server.close();
		return { near, far };
	}

	/** Right before Node looks at its timers, something arrives, and the time is over. */
	const arriveLate = (far: Socket) =>
		setImmediate(() => {
			far.write('arrived');
			stall(50);
		});

	test('what arrived meanwhile is read first', async () => {
		const { near, far } = await openPair();
		const order: string[] = [];
		near.on('data', (data) => order.push(data.toString()));
		arriveLate(far);
		await new Promise<void>((resolve) => {
			systemClock.callAfter(5, resolve);
		});
		expect(order).toEqual(['arrived']);
		near.destroy();
		far.destroy();
	});

	test('what arrived meanwhile can cancel the callback', async () => {
		const { near, far } = await openPair();
		const call = jest.fn();
		const arrived = once(near, 'data').then(systemClock.callAfter(5, call));
		arriveLate(far);
		await arrived;
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(call).not.toHaveBeenCalled();
		near.destroy();
		far.destroy();
	});
});
