import { NodeError, refusal } from '../../../nodes/core/errors';
import { Naming } from '../../../nodes/fields/field';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { type Job, RunItem, RunNotes } from '../../../nodes/Workspace/runner/job';
import { defineOperation, type Clients, type Operation } from '../../../nodes/Workspace/operation';
import { perform, tasksOf } from '../../../nodes/Workspace/runner/runItems';
import { testClients } from '../client';
import { contextOf } from '../runNode';

const clients = testClients('http://127.0.0.1:9', 'token');
const notes = new RunNotes(new Sanitizer());
const url = 'http://127.0.0.1:9';

function operationWith(parts: Partial<Operation>): Operation {
	return defineOperation({
		value: 'try',
		name: 'Try',
		action: 'Try',
		description: '',
		fields: [],
		options: [],
		execute: () => Promise.resolve('done'),
		...parts,
	});
}

const limits = { maxTries: 1, maxRetryWaitSeconds: 0, timeoutSeconds: 1 };

function jobOf(operation: Operation, index = 0, combineKey?: string): Job {
	return {
		index,
		resource: 'mail',
		operation,
		params: {},
		limits,
		item: new RunItem(contextOf({ url, parameters: {} }), index, {
			notes,
			naming: new Naming([], 'json'),
			limits,
		}),
		combineKey,
		serialKey: undefined,
	};
}

const outcomesOf = (...jobs: Job[]) => perform(jobs, () => Promise.resolve(clients));
const lost = new NodeError({ code: 503, message: 'Lost', ambiguous: true });
const fails = (error: unknown) => (): Promise<never> =>
	Promise.resolve().then(() => {
		throw error;
	});

test('a parameter that the generated client itself refuses is the input’s fault', async () => {
	const execute = ({ drive }: Clients) => drive.files.get({} as { fileId: string });
	const [outcome] = await outcomesOf(jobOf(operationWith({ execute })));
	expect(outcome).toMatchObject({ code: 400, message: 'Missing required parameters: fileId' });
	const climb = ({ drive }: Clients) => drive.files.get({ fileId: '..' });
	const [refused] = await outcomesOf(jobOf(operationWith({ execute: climb })));
	expect(refused).toMatchObject({
		code: 400,
		message: expect.stringContaining('Invalid value') as string,
	});
});

test('what nobody foresaw is 500', async () => {
	const [outcome] = await outcomesOf(jobOf(operationWith({ execute: fails(new Error('a fault')) })));
	expect(outcome).toMatchObject({ code: 500, status: 'INTERNAL', message: 'a fault' });
});

test('what does not have the form that Google documents is a bad gateway, and may follow a change', async () => {
	const execute = fails(new TypeError('x is undefined'));
	const message = "Google's response does not have the form that Google documents, so it could not be read";
	expect(await outcomesOf(jobOf(operationWith({ execute, readsOnly: true })))).toMatchObject([
		{ code: 502, status: 'UNAVAILABLE', message, cause: expect.any(TypeError) as unknown },
	]);
	expect(await outcomesOf(jobOf(operationWith({ execute })))).toMatchObject([
		{ message: `The request may have been carried out: ${message}`, ambiguous: true },
	]);
});

describe('an ambiguous failure', () => {
	const execute = fails(lost);

	test.each<[string, Partial<Operation>, string]>([
		['the operation cannot tell', {}, 'Check the result in Google before you run this again.'],
		[
			'nothing was found',
			{ recover: () => Promise.resolve(undefined) },
			'Check the result in Google before you run this again.',
		],
		['twice is as good as once', { idempotent: () => true }, 'It is safe to run this again.'],
	])('stands when %s, and says that it may have been done', async (_name, parts, advice) => {
		const told = { message: 'The request may have been carried out: Lost', description: advice };
		expect(await outcomesOf(jobOf(operationWith({ execute, ...parts })))).toMatchObject([
			{ code: 503, ...told },
		]);
	});

	test('is a result, or a clearer failure, when it can', async () => {
		const found = () => Promise.resolve('found');
		expect(await outcomesOf(jobOf(operationWith({ execute, recover: found })))).toEqual(['found']);
		const recover = fails(new NodeError({ code: 503, message: 'It is not known', ambiguous: true }));
		expect(await outcomesOf(jobOf(operationWith({ execute, recover })))).toMatchObject([
			{ message: 'It is not known' },
		]);
	});

	test('stays ambiguous when looking for the work fails too', async () => {
		const recover = fails(new NodeError({ code: 404, message: 'No such mailbox' }));
		const [outcome] = await outcomesOf(jobOf(operationWith({ execute, recover })));
		expect(outcome).toMatchObject({
			code: 503,
			message: 'The request may have been carried out: Lost',
			ambiguous: true,
			description:
				'Checking this also failed (No such mailbox). Check the result in Google before you run this again.',
		});
	});

	test('is asked about for no other failure', async () => {
		const recover = jest.fn(() => Promise.resolve('found'));
		await outcomesOf(jobOf(operationWith({ execute: fails(refusal('No')), recover })));
		expect(recover).not.toHaveBeenCalled();
	});

	test('of a combined request is asked about for each member', async () => {
		const recover: Operation['recover'] = (_clients, _params, _failure, { index }) =>
			Promise.resolve(index === 1 ? 'found' : undefined);
		const combine = { key: () => 'k', execute: fails(lost) };
		const operation = operationWith({ recover, combine });
		expect(await outcomesOf(jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k'))).toMatchObject([
			{ code: 503 },
			'found',
		]);
	});
});

test('without a key an operation that can combine serves one item alone', async () => {
	const combine = { key: () => undefined, execute: () => Promise.resolve(['combined']) };
	expect(await outcomesOf(jobOf(operationWith({ combine })))).toEqual(['done']);
});

test('a combined request may fail for some of its members', async () => {
	const combine = { key: () => 'k', execute: () => Promise.resolve(['a', refusal('Not this one')]) };
	const operation = operationWith({ combine });
	expect(await outcomesOf(jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k'))).toMatchObject([
		'a',
		{ code: 400, message: 'Not this one' },
	]);
});

test('a member without a result of its own gets none', async () => {
	const combine = { key: () => 'k', execute: () => Promise.resolve(['a']) };
	const operation = operationWith({ combine });
	expect(await outcomesOf(jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k'))).toEqual(['a']);
});

test('clients that cannot be made fail every member', async () => {
	const operation = operationWith({ combine: { key: () => 'k', execute: () => Promise.resolve([]) } });
	const jobs = [jobOf(operation, 0, 'k'), jobOf(operation, 1, 'k')];
	expect(await perform(jobs, fails(refusal('No credential')))).toMatchObject([
		{ message: 'No credential' },
		{ message: 'No credential' },
	]);
});

test('jobs with one key go together, unless a job of another operation lies between them', () => {
	const [one, other] = [operationWith({}), operationWith({})];
	const jobs = [
		jobOf(one, 0, 'a'),
		jobOf(one, 1, 'b'),
		jobOf(one, 2, 'a'),
		jobOf(other, 3, 'a'),
		jobOf(one, 4, 'a'),
		jobOf(one, 5),
		jobOf(one, 6),
	];
	const tasks = tasksOf(jobs.map((value) => ({ value })));
	expect(tasks.map((task) => task.map(({ value }) => value.index))).toEqual([
		[0, 2],
		[1],
		[3],
		[4],
		[5],
		[6],
	]);
});

describe('what the items of a run share', () => {
	test('is one answer to equal questions; a question that failed is asked again', async () => {
		const shared = new RunNotes(new Sanitizer());
		const ask = jest.fn(() => Promise.resolve('a'));
		expect(await Promise.all([shared.once('q', ask), shared.once('q', ask)])).toEqual(['a', 'a']);
		expect(await shared.once('q', ask)).toBe('a');
		expect(ask).toHaveBeenCalledTimes(1);
		await expect(shared.once('other', fails(lost))).rejects.toThrow('Lost');
		expect(await shared.once('other', ask)).toBe('a');
	});
});

describe('a failure of an item that made something', () => {
	const document = { kind: 'document', id: 'd1', url: 'https://d.example/d1' } as const;
	const { item } = jobOf(operationWith({}));
	item.made(document);
	item.made(document);
	item.made({ kind: 'file', id: 'f1' });

	test('names each thing once', () => {
		expect(item.hasMade).toBe(true);
		expect(item.told(refusal('No', 'Try again.'))).toMatchObject({
			description:
				'Try again. The document d1 (https://d.example/d1) was already created. The file f1 was already created.',
			details: { made: [document, { kind: 'file', id: 'f1' }] },
		});
	});

	test('does not say again what it says itself', () => {
		const failure = refusal('See https://d.example/d1', 'The file f1 is broken.');
		expect(item.told(failure).description).toBe('The file f1 is broken.');
	});
});
