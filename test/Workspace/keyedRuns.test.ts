import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';
import { getGlobalSingleton } from '../../nodes/core/globalSingleton';
import { readParameters } from '../../nodes/fields/params';
import type { RequestSender } from '../../nodes/http/attempt';
import * as document from '../../nodes/Workspace/actions/document';
import * as file from '../../nodes/Workspace/actions/file';
import * as spreadsheet from '../../nodes/Workspace/actions/spreadsheet';
import { createClients } from '../../nodes/Workspace/google/clients';
import {
	hashParts,
	hashKeyUse,
	idempotencyOption,
	createKeyReusedError,
} from '../../nodes/Workspace/idempotency';
import { getAllFields, type Operation } from '../../nodes/Workspace/operation';
import { basesAt, testItem, transportOptions } from './client';
import { n8nSender } from './n8nSender';
import { performTogether } from './performOperation';

describe('keyed runs', () => {
	/** Runs with keys that are killed at a random request and run again by two at once; bench/idempotency.ts is the long form. */
	const runs = 40;
	const seed = 12;

	/** What was killed waits for answers until the end. */
	const over = new AbortController();
	const underway: Array<Promise<unknown>> = [];
	let google: GoogleServer;
	let token = '';
	beforeAll(async () => {
		// Each execution stands for a process of its own, so that none of them sees the turn of another.
		getGlobalSingleton('documentTurns', () => new Map<string, unknown>()).get = () => undefined;
		google = await startGoogle({ latencyMilliseconds: 3 });
		token = google.tokens.issue();
		log = google.docs.seed({ title: 'Log' });
		const body = ['a', 'HERE'].map((content) => ({
			paragraph: { elements: [{ textRun: { content: `${content}\n` } }] },
		}));
		template = google.docs.seed({ title: 'Template', tabs: [{ title: 'Tab 1', body }] });
	});
	afterAll(async () => {
		over.abort();
		await Promise.all(underway);
		await google.close();
	});

	/** The same numbers at each run of the test. */
	function seeded(from: number): () => number {
		let state = from;
		return () => {
			state = (state * 1664525 + 1013904223) % 2 ** 32;
			return state / 2 ** 32;
		};
	}
	const random = seeded(seed);

	/**
	 * One execution in a process that is killed at its n-th request: before it goes out, or when it has been carried out and nobody
	 * has the answer. After that nothing of it goes on.
	 */
	class Execution {
		readonly killed: Promise<undefined>;
		private readonly send = n8nSender(token);
		private readonly after: boolean;
		/** Requests until the end. */
		private left: number;
		private kill!: () => void;
		requests = 0;

		constructor(left: number, after: boolean) {
			this.left = left;
			this.after = after;
			this.killed = new Promise((resolve) => {
				this.kill = () => {
					resolve(undefined);
				};
			});
		}

		async run(operation: Operation, given: Record<string, unknown>): Promise<unknown> {
			const { signal } = over;
			const clients = createClients(this.sender, basesAt(google.url), {
				credentialHash: randomUUID(),
				...transportOptions({ signal, maxRetryWaitMilliseconds: 1000 }),
			});
			const params = readParameters(getAllFields(operation), given, {
				// An input object has content and a template together, which the form has not.
				mode: 'json',
				timezone: 'UTC',
			});
			const outcome = performTogether(operation, [{ params, item: testItem() }], clients);
			underway.push(outcome);
			return await Promise.race([outcome.then(([one]) => one), this.killed]);
		}

		private get sender(): RequestSender {
			return async (request) => {
				this.left--;
				this.requests++;
				if (this.left < 0 || (this.left === 0 && !this.after)) return await this.end();
				const answer = await this.send(request);
				return this.left <= 0 ? await this.end() : answer;
			};
		}

		private async end(): Promise<never> {
			this.kill();
			return await new Promise<never>(() => undefined);
		}
	}

	/** What an operation does under a number, and how often it is there. */
	type What = readonly [
		operation: unknown,
		given: (own: number) => Record<string, unknown>,
		count: (own: number) => number,
	];

	const named = (name: string) =>
		google.files.listAll().filter((one) => one.name === name && !one.trashed);
	const occurrences = (text: string, part: string) => text.split(part).length - 1;
	let log = '';
	let template = '';

	/** What it puts in contains what it looks for, so that twice would be seen. Texts are replaced in new Markdown, too, but not in the content. */
	const fillTemplate = (title: string) => ({
		...{ title, templateId: template, content: 'end a' },
		replacements: [
			{ find: 'a', replace: 'aa' },
			{ find: 'HERE', replace: '# Put here a', format: 'markdown' },
		],
	});
	const filled = 'aa\nPut here aa\nend a\n';
	/** How many copies there are; NaN if one has other content. */
	const countFilled = (title: string) => {
		const made = named(title);
		return made.every(({ id }) => google.docs.text(id) === filled) ? made.length : NaN;
	};

	const contentsOf = (title: string) =>
		named(title)
			.map(({ id }) => google.docs.text(id))
			.join();

	const whats: readonly [What, ...What[]] = [
		[
			file.upload,
			(own) => ({ contentSource: 'text', name: `upload ${own}`, content: `text ${own}` }),
			(own) => named(`upload ${own}`).length,
		],
		[
			file.upload,
			(own) => ({
				...{ contentSource: 'text', mimeType: 'text/markdown', convertTo: 'document' },
				...{ name: `converted ${own}`, content: `# ${own}` },
			}),
			(own) => named(`converted ${own}`).length,
		],
		[
			document.create,
			(own) => ({ title: `document ${own}`, content: 'content' }),
			(own) => {
				const title = `document ${own}`;
				return Math.max(named(title).length, occurrences(contentsOf(title), 'content'));
			},
		],
		[
			document.create,
			(own) => fillTemplate(`letter ${own}`),
			(own) => countFilled(`letter ${own}`),
		],
		[
			document.append,
			(own) => ({ documentId: log, content: `line ${own}.` }),
			(own) => occurrences(google.docs.text(log), `line ${own}.`),
		],
		[
			spreadsheet.create,
			(own) => ({ title: `spreadsheet ${own}`, values: [[own]] }),
			(own) => named(`spreadsheet ${own}`).length,
		],
	];

	function execution(most: number): Execution {
		return new Execution(
			random() < 0.8 ? 1 + Math.floor(random() * most) : Infinity,
			random() < 0.5,
		);
	}

	test('killed at random requests and run again by two at once: each thing is there once, and all say the same', async () => {
		const wrong: string[] = [];
		let killed = 0;
		for (let own = 0; own < runs; own++) {
			const [what, givenOf, countOf] = whats[own % whats.length] ?? whats[0];
			// The fields of all operations are read alike.
			const operation = what as Operation;
			const given = { ...givenOf(own), idempotencyKey: `run ${own}` };
			const ends: unknown[] = [await execution(5).run(operation, given)];
			const gap = random() * 10;
			const pair = [
				execution(9).run(operation, given),
				sleep(gap).then(() => execution(9).run(operation, given)),
			];
			ends.push(...(await Promise.all(pair)));
			ends.push(await new Execution(Infinity, true).run(operation, given));
			killed += ends.filter((end) => end === undefined).length;
			const results = ends.filter((end) => end !== undefined).map(idOf);
			const count = countOf(own);
			if (count !== 1 || new Set(results).size !== 1)
				wrong.push(`${own}: ${count} times, ${results.join()}`);
		}
		expect(wrong).toEqual([]);
		expect(killed).toBeGreaterThan(runs / 2);
		expectNoViolations(google);
	});

	test('a template is copied and filled once, whichever request it was killed at', async () => {
		// The fields of all operations are read alike.
		const create = document.create as unknown as Operation;
		const whole = new Execution(Infinity, true);
		const given = (title: string) => ({ ...fillTemplate(title), idempotencyKey: title });
		await whole.run(create, given('undisturbed'));
		expect(named('undisturbed').map(({ id }) => google.docs.text(id))).toEqual([filled]);
		expect(whole.requests).toBeGreaterThan(5);
		for (let nth = 1; nth <= whole.requests; nth++) {
			for (const isCarriedOut of [false, true]) {
				const title = `killed ${isCarriedOut ? 'after' : 'before'} ${nth}`;
				expect(
					await new Execution(nth, isCarriedOut).run(create, given(title)),
				).toBeUndefined();
				const again = await new Execution(Infinity, true).run(create, given(title));
				expect([title, countFilled(title), idOf(again)]).toEqual([
					title,
					1,
					named(title)[0]?.id,
				]);
			}
		}
	});

	function idOf(end: unknown): string {
		const { id, documentId, spreadsheetId, message } = end as Record<
			string,
			string | undefined
		>;
		return id ?? documentId ?? spreadsheetId ?? String(message);
	}
});

describe('idempotency', () => {
	const use = { key: 'order-4711', operation: 'mail send', target: '' };
	const hashOf = (other: Partial<typeof use> = {}) =>
		hashKeyUse({ ...use, ...other }, [])?.keyHash;

	it('the hash of a key is the same each time, and says nothing of the key', () => {
		const keyHash = hashOf();
		expect(keyHash).toMatch(/^[0-9a-f]{64}$/);
		expect(hashOf()).toBe(keyHash);
	});

	it.each([{ key: 'order-4712' }, { operation: 'file upload' }, { target: '1AbC' }])(
		'%j makes another hash',
		(other) => {
			expect(hashOf(other)).not.toBe(hashOf());
		},
	);

	it('no key, no hash', () => {
		expect(hashOf({ key: '' })).toBeUndefined();
	});

	it.each([
		[' \n', /only white space/],
		['x'.repeat(256), /more than 255 characters/],
	])('%j is refused', (key, words) => {
		const context = { mode: 'json', timezone: 'UTC' } as const;
		const read = () => idempotencyOption.read(key, idempotencyOption, context);
		expect(read).toThrow(words);
	});

	it('parts cannot run into each other', () => {
		const parts = fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 });
		fc.assert(
			fc.property(parts, parts, (one, other) => {
				expect(hashParts(one) === hashParts(other)).toBe(
					JSON.stringify(one) === JSON.stringify(other),
				);
			}),
		);
	});

	it('a used key is a conflict, and nothing was done', () => {
		expect(createKeyReusedError('the mail 18c3')).toMatchObject({
			code: 409,
			status: 'ALREADY_EXISTS',
			outcome: 'notDone',
		});
	});
});
