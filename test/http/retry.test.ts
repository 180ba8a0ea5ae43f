import { RequestError, nextStep, type RetryPolicy, withRetries } from '../../nodes/http/retry';
import { NodeError, isNodeError } from '../../nodes/core/errors';

const policy: RetryPolicy = {
	words: { service: 'The service', nothingDone: 'Nothing was done.' },
	maxTries: 5,
	maxRetryWaitMilliseconds: 60_000,
	signal: undefined,
};
const first = { tries: 1, waitedMilliseconds: 0, maybeDone: false };
const busy = (retryAfterMilliseconds?: number) =>
	new NodeError({ code: 429, message: 'Busy', retryAfterMilliseconds });

describe('the next step', () => {
	beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
	afterEach(() => jest.restoreAllMocks());

	const waitFor = (failure: NodeError, progress = first, more: Partial<RetryPolicy> = {}) => {
		const step = nextStep(failure, progress, { ...policy, ...more });
		return 'end' in step ? step.end.description : step.waitMilliseconds;
	};

	test('has a floor, whatever the dice and the service say', () => {
		expect([waitFor(busy()), waitFor(busy(0))]).toEqual([200, 200]);
	});

	test('comes after what the service asks for, and never at the same moment for all', () => {
		expect(waitFor(busy(2000))).toBe(2200);
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		expect(waitFor(busy(2000))).toBe(2900);
	});

	test.each([undefined, 0, 1000])('does not come without time to wait (Retry-After %s)', (asked) => {
		expect(nextStep(busy(asked), first, { ...policy, maxRetryWaitMilliseconds: 0 })).toHaveProperty('end');
	});

	test('waits for what is left at most', () => {
		expect(waitFor(busy(), { ...first, waitedMilliseconds: 59_950 })).toBe(50);
	});

	test('states a wait that is too long, and what is left', () => {
		expect(waitFor(busy(61_000))).toMatch(/^The service asks n8n to wait 61 seconds, but '.+' allows 60\.$/);
		expect(waitFor(busy(3000), { ...first, waitedMilliseconds: 58_500 })).toMatch(
			/allows 60, of which 1\.5 are left\.$/,
		);
	});
});

test('when the tries end, all that is known of the failure is kept', async () => {
	const cause = new Error('why');
	const failure = new NodeError({
		code: 503,
		message: 'No',
		cause,
		carriedOut: true,
		settled: true,
		retryAfterMilliseconds: 0,
	});
	const tries = withRetries(
		() => Promise.reject(new RequestError('notDone', failure)),
		{ harmless: false, reading: false },
		{ ...policy, maxTries: 2, maxRetryWaitMilliseconds: 10 },
	);
	const ended: unknown = await tries.catch((error: unknown) => error);
	if (!isNodeError(ended)) throw ended;
	expect([ended.cause, ended.carriedOut, ended.settled, ended.description]).toEqual([
		cause,
		true,
		true,
		'Tried 2 times.',
	]);
});
