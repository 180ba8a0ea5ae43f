import { setImmediate as turn } from 'node:timers/promises';

import { repeatIfOutdated } from '../../../../nodes/Workspace/actions/document/revisionGuard';

const hang = () => new Promise<never>(() => undefined);

test('a change that hangs keeps the next one waiting for ten seconds', async () => {
	jest.useFakeTimers();
	try {
		void repeatIfOutdated('hangs', hang, { signal: undefined });
		const next = jest.fn(() => Promise.resolve('done'));
		const changed = repeatIfOutdated('hangs', next, { signal: undefined });
		await jest.advanceTimersByTimeAsync(9990);
		expect(next).not.toHaveBeenCalled();
		await jest.advanceTimersByTimeAsync(20);
		expect(await changed).toBe('done');
		expect(jest.getTimerCount()).toBe(0);
	} finally {
		jest.useRealTimers();
	}
});

test('an execution that is stopped does not wait for its turn, and keeps none', async () => {
	const ended: string[] = [];
	let endFirst: () => void = () => undefined;
	const first = repeatIfOutdated(
		'stopped',
		() => new Promise<void>((resolve) => (endFirst = resolve)),
		{ signal: undefined },
	).then(() => ended.push('first'));
	const stop = new AbortController();
	const record = (name: string) => () => Promise.resolve(ended.push(name));
	const second = repeatIfOutdated('stopped', record('second'), { signal: stop.signal });
	const third = repeatIfOutdated('stopped', record('third'), { signal: AbortSignal.abort() });
	const last = repeatIfOutdated('stopped', record('last'), { signal: undefined });
	await third;
	expect(ended).toEqual(['third']);
	stop.abort();
	await second;
	await turn();
	expect(ended).toEqual(['third', 'second']);
	endFirst();
	await Promise.all([first, last]);
	expect(ended).toEqual(['third', 'second', 'first', 'last']);
});
