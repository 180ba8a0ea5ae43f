import threads from 'node:worker_threads';

import { runInWorker } from '../../nodes/untrusted/runInWorker';
import type { TaskName } from '../../nodes/untrusted/untrusted.worker';
import { roundsOf } from '../growth';

async function reading(
	task: Exclude<TaskName, 'readMail' | 'readDocument'>,
	text: string,
	signal?: AbortSignal,
) {
	const answer = await runInWorker(task, text, signal);
	return 'result' in answer ? answer.result : `problem: ${answer.problem}`;
}

test('texts are read one after another', async () => {
	expect(
		await Promise.all([
			reading('htmlToText', '<p>a &amp; b'),
			reading('markdownToHtml', '# a'),
			reading('markdownToBlocks', 'a'),
		]),
	).toEqual([
		'a & b',
		'<h1>a</h1>',
		'{"blocks":[{"kind":"paragraph","spans":[{"text":"a","marks":{}}],"format":"text","quoteDepth":0}],"listKinds":[],"hasImages":false,"simplified":[]}',
	]);
});

afterEach(() => {
	jest.restoreAllMocks();
});

/** What V8 does at its limit could end the process of the test, too. */
const outOfMemory = 'throw Object.assign(new Error("x"), { code: "ERR_WORKER_OUT_OF_MEMORY" })';

test('a system that starts no thread is told, and the next text is read', async () => {
	await jest.isolateModulesAsync(async () => {
		const { runInWorker: ask } = await import('../../nodes/untrusted/runInWorker');
		const start = jest.spyOn(threads, 'Worker').mockImplementationOnce(() => {
			throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
		});
		const problem = 'the worker thread that reads it stopped';
		expect(await ask('htmlToText', 'a', undefined)).toEqual({ problem });
		start.mockRestore();
		expect(await ask('htmlToText', 'a', undefined)).toEqual({ result: 'a' });
	});
});

test.each([
	['is out of memory', 'reading it takes more than 384 MB of memory', outOfMemory],
	['fails', 'the worker thread that reads it stopped', 'throw new Error("x")'],
	['ends without an error', 'the worker thread that reads it stopped', 'process.exit()'],
])('a thread that %s is told, and the next text is read', async (_what, problem, code) => {
	await jest.isolateModulesAsync(async () => {
		const { runInWorker: ask } = await import('../../nodes/untrusted/runInWorker');
		const script = `require('node:worker_threads').parentPort.on('message', () => { ${code} })`;
		const thread = new threads.Worker(script, { eval: true });
		jest.spyOn(threads, 'Worker').mockImplementationOnce(() => thread);
		expect(await ask('htmlToText', 'a', undefined)).toEqual({ problem });
		jest.restoreAllMocks();
		expect(await ask('htmlToText', 'a', undefined)).toEqual({ result: 'a' });
	});
});

test('an idle thread keeps no process alive', async () => {
	await reading('markdownToHtml', 'a');
	expect(process.getActiveResourcesInfo()).not.toContain('MessagePort');
});

test('what takes too long is given up, and what comes after it is read', async () => {
	const slow = reading('markdownToHtml', '*a_ '.repeat(20_000));
	const next = reading('markdownToHtml', '*a*');
	expect(await slow).toBe('problem: reading it takes longer than 3 s');
	expect(await next).toBe('<p><em>a</em></p>');
});

describe('Markdown that a stranger made up', () => {
	const many = (count: number, textAt: (at: number) => string) =>
		Array.from({ length: roundsOf(count) }, (_, at) => textAt(at)).join('');
	const links = `${many(13_000, () => '[a]')}\n\n[a]: /${many(40_000, () => 'u')}`;
	const [columns, rules] = ['|a', '|-'].map((cell) => many(10_000, () => cell));
	const table = `${columns}\n${rules}\n${many(10_000, () => '|x\n')}`;

	test.each([
		['pictures that never end', 'markdownToBlocks', many(20_000, () => '![a](')],
		['brackets', 'markdownToHtml', many(30_000, () => ']')],
		['link definitions', 'markdownToBlocks', many(4000, (at) => `[a${at}]: /b\n`)],
		['lists in lists', 'markdownToHtml', many(400, (at) => `${'  '.repeat(at)}- a\n`)],
		['lists on one line', 'markdownToBlocks', many(40_000, () => '- ')],
		['quotes', 'markdownToHtml', `${many(40_000, () => '>')}a`],
		['backticks', 'markdownToBlocks', many(400, (at) => `${'`'.repeat(at)} `)],
		['links to a long address', 'markdownToHtml', links],
		['a table with many columns and rows', 'markdownToBlocks', table],
		['nothing but spaces', 'markdownToHtml', many(80_000, () => ' ')],
	] as const)('%s: what comes after it is read', async (_what, task, markdown) => {
		const made = reading(task, markdown);
		expect(await reading('markdownToHtml', '*a*')).toBe('<p><em>a</em></p>');
		await made;
	});
});

test('a stopped execution does not wait, and what comes after it is read', async () => {
	const stop = new AbortController();
	const slow = reading('markdownToHtml', '*a_ '.repeat(20_000), stop.signal);
	const behind = reading('markdownToHtml', 'b', stop.signal);
	const another = reading('markdownToHtml', '*a*');
	stop.abort(new Error('stopped'));
	await expect(slow).rejects.toThrow('stopped');
	await expect(behind).rejects.toThrow('stopped');
	expect(await another).toBe('<p><em>a</em></p>');
});

test('an execution that is stopped when its answer is there does not end the thread of the next one', async () => {
	await reading('htmlToText', 'a');
	const stop = new AbortController();
	const stopped = reading('htmlToText', 'a', stop.signal);
	const next = reading('htmlToText', 'b');
	await new Promise((resolve) => {
		process.nextTick(resolve);
	});
	// The thread answers meanwhile.
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
	stop.abort(new Error('stopped'));
	await expect(stopped).rejects.toThrow('stopped');
	expect(await next).toBe('b');
});

test('a short text does not wait for long ones', async () => {
	const long = reading('markdownToHtml', '*a_ '.repeat(40_000));
	expect(await Promise.race([long, reading('markdownToHtml', '*a*')])).toBe('<p><em>a</em></p>');
	expect(await long).toBe('problem: reading it takes longer than 4 s');
});

test('what is far too long is not begun', async () => {
	expect(await reading('markdownToHtml', 'a'.repeat(100_000_001))).toBe(
		'problem: it is longer than 100,000,000 characters',
	);
});
