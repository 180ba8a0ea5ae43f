// A gateway in the place of Google may answer with any JSON. Each part of each answer that an operation gets becomes something else:
// a sample here, a larger one with `npm run test:faults`, all of them with SHAPES=Infinity.
import type { IDataObject } from 'n8n-workflow';

import type { LoggedRequest } from '../../dev/google/server';
import { withBinaryData } from '../createExecuteContext';
import { Random } from '../hostile/random';
import { readClaim, toEnd } from './claim';
import { World } from './world';

type Way = (seeds: World['seeds']) => IDataObject;

const newKey = () => ({ idempotencyKey: `k${++keys}` });
const inSheet = (operation: string, { spreadsheetId }: World['seeds']) => {
	return { operation, spreadsheetId, tab: 'Sheet1' };
};
const markdown = { contentFormat: 'markdown' };

/** Inputs with which each operation reads as much of Google's answers as it can. */
const ways: Readonly<Record<string, Way>> = {
	'mail send': () => ({
		operation: 'send',
		to: 'ann@example.com',
		subject: 'S',
		body: 'B',
		...newKey(),
	}),
	'mail send, as a reply': ({ messageId }) => ({
		operation: 'send',
		replyToMessageId: messageId,
		replyAll: true,
		quoteOriginal: true,
		includeSignature: true,
		body: 'B',
		saveAsDraft: true,
	}),
	'mail list': () => ({
		operation: 'list',
		includeBody: true,
		downloadAttachments: true,
		output: 'items',
		labelIds: 'INBOX',
	}),
	'mail search': () => ({ operation: 'search', query: 'subject:About' }),
	'mail read': ({ messageId }) => ({
		operation: 'read',
		messageId,
		wholeConversation: true,
		downloadAttachments: true,
	}),
	'spreadsheet create': () => {
		const table = { title: 'T', values: [['a'], [1]] };
		return { resource: 'spreadsheet', operation: 'create', ...table, ...newKey() };
	},
	'spreadsheet read': (seeds) => ({
		...inSheet('read', seeds),
		output: 'rows',
		filters: [{ column: 'Name', value: 'Ann' }],
	}),
	'spreadsheet write': (seeds) => ({
		...inSheet('write', seeds),
		values: [{ Name: 'Ann' }],
		matchColumns: 'Name',
	}),
	'spreadsheet append': (seeds) => ({
		...inSheet('append', seeds),
		tab: 'New',
		createTab: true,
		values: [{ Name: 'Ann' }],
	}),
	'document create': ({ documentId: templateId }) => {
		const filled = { templateId, replacements: [{ find: 'First', replace: 'Last' }] };
		return { resource: 'document', operation: 'create', title: 'T', ...filled, ...newKey() };
	},
	'document read': ({ documentId }) => ({ operation: 'read', documentId, format: 'markdown' }),
	'document write': ({ documentId }) => {
		const content = '# a\n\n- b\n\n|c|d|\n|-|-|\n|e|f|';
		return { operation: 'write', documentId, content, ...markdown };
	},
	'document write, in a section': ({ documentId }) => {
		const place = { documentId, section: 'Results' };
		return { operation: 'write', ...place, content: '# a', ...markdown };
	},
	'document write, with a replacement': ({ documentId }) => {
		const replacements = [{ find: 'First line', replace: '- b', format: 'markdown' }];
		return { operation: 'write', documentId, content: '', replacements };
	},
	'document append': ({ documentId }) => {
		return { operation: 'append', documentId, content: '- b', ...markdown };
	},
	'file upload': () => ({
		operation: 'upload',
		contentSource: 'text',
		content: 'C',
		name: 'N',
		onExisting: 'replace',
	}),
};
let keys = 0;

const wrong = ['abc', 7, true, [], {}, null, ['x'], [null], [7], { x: 7 }, -1, '', [[[]]]] as const;
type Path = ReadonlyArray<string | number>;

/** What nobody foresaw, in the words of JavaScript. */
const unforeseen =
	/call stack|is not a function|is not iterable|Cannot (read|convert)|undefined|Invalid (array|string|time)|gave no result|must be (of type|an instance)|Received/;

/** Between the stand-in and the node. Of the answer with a number, the value at the path becomes another one. */
class Gateway {
	readonly answers: Array<{ readonly method: string; readonly body: unknown }> = [];
	change: Cell | undefined;

	pass(body: unknown, { httpMethod: method }: LoggedRequest): unknown {
		const at = this.answers.push({ method, body }) - 1;
		return this.change?.at === at ? replaced(body, this.change.path, this.change.value) : body;
	}
}

function replaced(value: unknown, [first, ...rest]: Path, by: unknown): unknown {
	if (first === undefined) return by;
	const copy = (
		Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
	) as Record<string | number, unknown>;
	copy[first] = replaced(copy[first], rest, by);
	return copy;
}

function pathsIn(value: unknown): Path[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, inner]) => [
		[key],
		...pathsIn(inner).map((path) => [key, ...path]),
	]);
}

/** The whole node, whose answers go through a gateway. */
class Place {
	readonly world: World;
	readonly gateway = new Gateway();

	constructor(world: World) {
		this.world = world;
		const rewrite = this.gateway.pass.bind(this.gateway);
		world.google.fault({ rewrite, times: Infinity });
	}

	/** @returns what the user reads of a failure, or `read` */
	async run(inputOf: Way): Promise<string> {
		this.gateway.answers.length = 0;
		const input = { ...inputOf(this.world.seeds), maxRetryWaitSeconds: 0 };
		const ended = await toEnd(this.world.run({ inputs: [input] }));
		if ('items' in ended) return 'read';
		const { message, description } = ended.error;
		return `${message} | ${description ?? ''}`;
	}
}

const perWay = Number(process.env.SHAPES ?? (process.env.FAULTS === 'all' ? 100 : 12));

/** Most of the time is waiting. */
const placesPerWay = 5;

interface Cell {
	readonly at: number;
	readonly path: Path;
	readonly value: unknown;
}

/** Runs once without a change. @returns some of the changes that are possible then */
async function chooseCells(place: Place, inputOf: Way): Promise<Array<Cell | undefined>> {
	expect(await place.run(inputOf)).toBe('read');
	const places = place.gateway.answers.flatMap((answer, at) =>
		pathsIn(answer.body).map((path) => ({ at, path })),
	);
	const all = places.flatMap((one) => wrong.map((value) => ({ ...one, value })));
	const random = new Random(20);
	return perWay < all.length
		? Array.from({ length: perWay }, () => all[Math.floor(random.next() * all.length)])
		: all;
}

/** @returns what is wrong in what the user reads after a change, if anything */
async function findWrong(place: Place, inputOf: Way, cell?: Cell): Promise<string[]> {
	const { gateway } = place;
	gateway.change = cell;
	const said = await place.run(inputOf);
	gateway.change = undefined;
	const { method = 'GET' } = gateway.answers[cell?.at ?? 0] ?? {};
	// An error that does not say so is read as: nothing was done.
	const isSaid = said.includes('already created') || readClaim({ message: said }) !== 'not done';
	const isLie = method !== 'GET' && said !== 'read' && !isSaid;
	return isLie || unforeseen.test(said) ? [`${JSON.stringify(cell)}: ${said}`] : [];
}

/** Plays each of so many of the changes, in a place of its own. */
async function playShare(inputOf: Way, share: number): Promise<string[]> {
	const place = new Place(await World.start());
	const cells = await chooseCells(place, inputOf);
	const wrongs: string[] = [];
	for (const cell of cells.filter((_, index) => index % placesPerWay === share))
		wrongs.push(...(await findWrong(place, inputOf, cell)));
	await place.world.close();
	return wrongs;
}

jest.setTimeout(1_200_000);

const findings = new Map<string, string[]>();
beforeAll(async () => {
	await withBinaryData();
	const shares = Array.from({ length: placesPerWay }, (_, share) => share);
	const play = async ([name, inputOf]: [string, Way]) => {
		const wrongs = await Promise.all(shares.map((share) => playShare(inputOf, share)));
		findings.set(name, wrongs.flat());
	};
	await Promise.all(Object.entries(ways).map(play));
});

test.each(Object.keys(ways))('%s: something else in each place of each response', (name) => {
	expect(findings.get(name)).toEqual([]);
});
