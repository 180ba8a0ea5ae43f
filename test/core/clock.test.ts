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
