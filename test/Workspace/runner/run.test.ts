import { NodeError, createRefusal } from '../../../nodes/core/errors';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { FieldNaming } from '../../../nodes/fields/field';
import { defineOperation, type Clients, type Operation } from '../../../nodes/Workspace/operation';
import { type Job, InputItem, RunState } from '../../../nodes/Workspace/runner/job';
import { notStarted } from '../../../nodes/Workspace/runner/planAndSend';
import { performJobs, planPhases } from '../../../nodes/Workspace/runner/runWorkspace';
import { testClients } from '../client';
import { createNodeContext } from '../runNode';

const clients = testClients('http://127.0.0.1:9', 'token');
const runState = new RunState(new Sanitizer());
const url = 'http://127.0.0.1:9';

function operationWith(parts: Partial<Operation>): Operation {
	return defineOperation({
		...{ value: 'try', name: 'Try', action: 'Try', description: '', modelDescription: '' },
		...{ fields: [], options: [] },
		send: () => Promise.resolve('done'),
		...parts,
	});
}

type Combination = NonNullable<Operation['combine']>;

const combining = (parts: Partial<Combination>): Combination => ({
	getKey: () => 'k',
	weigh: () => 0,
	plan: (_clients, all) => Promise.resolve(all.map(({ prepared }) => prepared)),
	send: (_clients, writes) => Promise.resolve(writes),
	...parts,
});

const limits = { maxRetryWaitSeconds: 0, timeoutSeconds: 1 };

function jobOf(operation: Operation, index = 0, combineKey?: string, place?: string): Job {
	return {
		index,
		resource: 'mail',
		operation,
		params: {},
		prepared: undefined,
		limits,
		item: new InputItem(
			createNodeContext({ url, parameters: {} }),
			index,
			runState,
			new FieldNaming([], { mode: 'json' }),
		),
		combineKey,
		place,
		changedId: undefined,
	};
}

const outcomesOf = (...jobs: Job[]) => performJobs(jobs, () => Promise.resolve(clients));
const lost = new NodeError({ code: 503, message: 'Lost', outcome: 'unknown' });
const fails = (error: unknown) => (): Promise<never> =>
	Promise.resolve().then(() => {
		throw error;
	});

test('what does not have the form that Google documents is a bad gateway, and may follow a change', async () => {
	const send = fails(new TypeError('x is undefined'));
	const message =
		"Google's response does not have the form that Google documents, so it could not be read";
	// What reads first, and only then marks something, has marked nothing yet.
	for (const mayChange of [() => false, () => true])
		expect(await outcomesOf(jobOf(operationWith({ send, mayChange })))).toMatchObject([
			{
				...{ code: 502, status: 'UNAVAILABLE', outcome: 'notDone', message },
				cause: expect.any(TypeError) as unknown,
			},
		]);
	expect(await outcomesOf(jobOf(operationWith({ send })))).toMatchObject([
		{ message: `The request may have been carried out: ${message}`, outcome: 'unknown' },
	]);
});

describe('an ambiguous failure', () => {
	const send = fails(lost);

	test.each<[string, Partial<Operation>, string]>([
		['the operation cannot tell', {}, 'Check the result in Google before you run this again.'],
		[
			'nothing was found',
			{ recover: () => Promise.resolve(undefined) },
			'Check the result in Google before you run this again.',
		],
		['twice is as good as once', { isIdempotent: () => true }, 'It is safe to run this again.'],
	])('stands when %s, and says that it may have been done', async (_name, parts, advice) => {
		const told = {
			message: 'The request may have been carried out: Lost',
			description: advice,
		};
		expect(await outcomesOf(jobOf(operationWith({ send, ...parts })))).toMatchObject([
			{ code: 503, ...told },
		]);
	});

	test('is a result, or a clearer failure, when it can', async () => {
		const found = () => Promise.resolve('found');
		expect(await outcomesOf(jobOf(operationWith({ send, recover: found })))).toEqual(['found']);
		const recover = fails(
			new NodeError({ code: 503, message: 'It is not known', outcome: 'unknown' }),
		);
		expect(await outcomesOf(jobOf(operationWith({ send, recover })))).toMatchObject([
			{ message: 'It is not known' },
		]);
	});

	test('stays ambiguous when looking for the work fails too', async () => {
		const recover = fails(new NodeError({ code: 404, message: 'No such mailbox' }));
		const [outcome] = await outcomesOf(jobOf(operationWith({ send, recover })));
		expect(outcome).toMatchObject({
			code: 503,
			message: 'The request may have been carried out: Lost',
			outcome: 'unknown',
			description: 'Check the result in Google before you run this again.',
		});
	});

	test('is asked about for no other failure', async () => {
		const recover = jest.fn(() => Promise.resolve('found'));
		await outcomesOf(jobOf(operationWith({ send: fails(createRefusal('No')), recover })));
		expect(recover).not.toHaveBeenCalled();
	});

	test('of a combined request is asked about for each member', async () => {
		const recover: Operation['recover'] = (_clients, _params, _failure, { index }) =>
			Promise.resolve(index === 1 ? 'found' : undefined);
		const operation = operationWith({ recover, combine: combining({ send: fails(lost) }) });
		expect(await outcomesOf(jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k'))).toMatchObject([
			{ code: 503 },
			'found',
		]);
	});
});

describe('items that are sent together', () => {
	const refused = createRefusal('Not this one', 'Because');
	/** Sends what `plan` made of three items: by default, their numbers. */
	const outcomesOfThree = async (
		parts: Partial<Combination>,
		{ continueOnFail = false } = {},
	) => {
		const operation = operationWith({ combine: combining(parts) });
		const jobs = [7, 8, 9].map((index) => {
			const job = jobOf(operation, index, 'k');
			Object.assign(job.item, { continueOnFail });
			return { ...job, prepared: index };
		});
		return await outcomesOf(...jobs);
	};
	const echo = jest.fn((_clients: Clients, writes: readonly unknown[]) =>
		Promise.resolve(writes.map((write) => `${String(write)}!`)),
	);
	const refuse =
		(refusedNumber: number): Combination['plan'] =>
		(_clients, all) =>
			Promise.resolve(
				all.map(({ prepared }) => (prepared === refusedNumber ? refused : prepared)),
			);
	beforeEach(() => echo.mockClear());

	test('are one request, with a result for each', async () => {
		expect(await outcomesOfThree({ send: echo })).toEqual(['7!', '8!', '9!']);
		expect(echo).toHaveBeenCalledTimes(1);
	});

	test.each([
		[0.4, [2, 1]],
		[0.5, [2, 1]],
		[0.6, [1, 1, 1]],
		[3, [1, 1, 1]],
		[undefined, [3]],
	])('of the weight %d are requests of %j', async (weight, expected) => {
		await outcomesOfThree({ send: echo, weigh: () => weight });
		expect(echo.mock.calls.map(([, writes]) => writes.length)).toEqual(expected);
	});

	test('a refused one fails alone where others go on, and they are planned without it', async () => {
		const plan = jest.fn(refuse(8));
		expect(await outcomesOfThree({ plan, send: echo }, { continueOnFail: true })).toMatchObject(
			['7!', { message: 'Not this one' }, '9!'],
		);
		expect(plan.mock.calls.map(([, all]) => all.length)).toEqual([3, 2]);
	});

	test('and else nothing of its run is started', async () => {
		expect(await outcomesOfThree({ plan: refuse(9), send: echo })).toMatchObject([
			notStarted,
			notStarted,
			{ message: 'Not this one' },
		]);
		expect(echo).not.toHaveBeenCalled();
	});

	test('a refused one keeps its reason if the others cannot be planned again', async () => {
		const unreachable = new NodeError({ code: 503, message: 'Google cannot be reached' });
		const plan = jest
			.fn<ReturnType<Combination['plan']>, Parameters<Combination['plan']>>()
			.mockImplementationOnce(refuse(8))
			.mockRejectedValueOnce(unreachable);
		expect(await outcomesOfThree({ plan, send: echo }, { continueOnFail: true })).toMatchObject(
			[
				{ message: 'Google cannot be reached' },
				{ message: 'Not this one' },
				{ message: 'Google cannot be reached' },
			],
		);
		expect(echo).not.toHaveBeenCalled();
	});

	test('behind a failure nothing is sent', async () => {
		const send: Combination['send'] = (_clients, [write]) =>
			write === 8 ? Promise.reject(refused) : Promise.resolve(['sent']);
		expect(await outcomesOfThree({ send, weigh: () => 1 })).toMatchObject([
			'sent',
			{ message: 'Not this one' },
			{
				code: 400,
				message: 'Not sent, because the previous rows were not written: Not this one',
				description: 'Nothing was written for this item.',
			},
		]);
	});

	test('behind a failure that does not say what became of it, nothing is claimed of it', async () => {
		const lost = new NodeError({ code: 503, message: 'Lost', outcome: 'unknown' });
		const send: Combination['send'] = () => Promise.reject(lost);
		const [, second] = await outcomesOfThree({ send, weigh: () => 1 });
		expect(second).toMatchObject({
			message: 'Not sent, because the previous rows may not have been written: Lost',
		});
	});
});

test('clients that cannot be made fail every member', async () => {
	const operation = operationWith({ combine: combining({}) });
	const jobs = [jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k')];
	expect(await performJobs(jobs, fails(createRefusal('No credential')))).toMatchObject([
		{ message: 'No credential' },
		{ message: 'No credential' },
	]);
});

test('jobs with one key go together, unless one of another operation, or in their place with another key, lies between them', () => {
	const [one, other] = [operationWith({}), operationWith({})];
	const jobs = [
		jobOf(one, 0, 'a', 'A'),
		jobOf(one, 1, 'b', 'B'),
		jobOf(one, 2, 'a', 'A'),
		jobOf(other, 3, 'a', 'A'),
		jobOf(one, 4, 'a', 'A'),
		jobOf(one, 5, 'a2', 'A'),
		jobOf(one, 6, 'a', 'A'),
		jobOf(one, 7, undefined, 'A'),
		jobOf(one, 8, 'a', 'A'),
		jobOf(one, 9),
		jobOf(one, 10),
	];
	const batches = planPhases(jobs.map((value, index) => ({ index, value }))).flat();
	const together = batches.map(({ items }) => items.map(({ index }) => index).join('+'));
	expect(together).toEqual(['0+2', '1', '3', '4', '5', '6', '7', '8', '9', '10']);
});

test('equal questions of the items of a run have one answer; a question that failed is asked again', async () => {
	const shared = new RunState(new Sanitizer());
	const ask = jest.fn(() => Promise.resolve('a'));
	const both = await Promise.all([shared.doOnce('q', ask), shared.doOnce('q', ask)]);
	expect([...both, await shared.doOnce('q', ask)]).toEqual(['a', 'a', 'a']);
	expect(ask).toHaveBeenCalledTimes(1);
	await expect(shared.doOnce('other', fails(lost))).rejects.toThrow('Lost');
	expect(await shared.doOnce('other', ask)).toBe('a');
});

test('a failure of an item that made something names each thing once', () => {
	const document = { kind: 'document', id: 'd1', url: 'https://d.example/d1' } as const;
	const { item } = jobOf(operationWith({}));
	item.recordCreated(document);
	item.recordCreated(document);
	item.recordCreated({ kind: 'file', id: 'f1' });
	expect(item.hasCreated).toBe(true);
	expect(item.explainFailure(createRefusal('No', 'Try again.'))).toMatchObject({
		description:
			'Try again. The document https://d.example/d1 was already created. The file f1 was already created.',
		details: { made: [document, { kind: 'file', id: 'f1' }] },
	});
});
