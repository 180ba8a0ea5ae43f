import type { Random } from './random';

const names = [
	'__proto__',
	'constructor',
	'rowNumber',
	'toString',
	'a',
	'a_2',
	'',
	' ',
	'\u2028',
	'0',
	'1',
] as const;
const cells = [
	'',
	'x',
	0,
	-1,
	1e308,
	true,
	null,
	[],
	{},
	'=1',
	'__proto__',
	'\0',
	'\ud800',
] as const;

/** As many columns as a sheet can have. */
const widest = 18_278;
/** Cells in all: ten such sheets are items of one execution. */
const most = 300_000;

/** Rows of one width, or of any, below names that may all be the same. */
function table(random: Random, width: number, height: number): unknown[][] {
	const isRagged = random.next() < 0.3;
	const kinds = Array.from({ length: random.size(1, cells.length) }, () => random.pick(cells));
	const own = Array.from({ length: random.size(1, names.length) }, () => random.pick(names));
	const header = Array.from({ length: width }, (_, at) => own[at % own.length]);
	const rows = Array.from({ length: height }, (_, row) =>
		Array.from(
			{ length: isRagged ? random.size(1, width) : width },
			(__, at) => kinds[(row + at) % kinds.length],
		),
	);
	return [header, ...rows];
}

/** Wide, tall, both, or with cells that hold much. */
export const rowMakers: ReadonlyArray<(random: Random) => unknown[][]> = [
	(random) => table(random, random.size(1_000, widest), random.size(1, most / widest)),
	(random) => table(random, random.size(1, 5), random.size(1_000, most / 5)),
	(random) => {
		const width = random.size(1, widest);
		return table(random, width, random.size(1, most / width));
	},
	(random) => [['a'], [random.text(random.size(1e3, 1e6), ['\u2028', '"', '\\', '=', '\ud800'])]],
	(random) => [
		[],
		...table(random, widest, 1),
		...Array.from({ length: random.size(1, 1e5) }, () => ['x']),
	],
];
