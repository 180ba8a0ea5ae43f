import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { needsFullAccess } from '../dev/examples';

interface Box {
	readonly name: string;
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

const folder = path.join(__dirname, '..', 'examples');

const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';

/** What may stand between the braces of an expression: a field of an item, the execution's URL, a date, or a value from a model. */
const plainExpressions = [
	/^\$json(\.\w+|\['[^']+'\])*$/,
	/^\$\('[^']+'\)\.(item|first\(\))\.json(\.\w+|\['[^']+'\])+$/,
	/^\$tool\.parameters\.\w+$/,
	/^\$execution\.resumeUrl$/,
	/^\$(now|today)\.(toISODate\(\)|toFormat\('[^']+'\))$/,
	/^\$fromAI\('\w+', ``, '\w+'\)$/,
];

interface Example {
	readonly name: string;
	readonly nodes: ReadonlyArray<{
		readonly name: string;
		readonly type: string;
		readonly position: [number, number];
		readonly parameters: {
			readonly width?: number;
			readonly height?: number;
			readonly content?: string;
		};
	}>;
}

const read = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Example;

/** What n8n draws for a node, in pixels of the canvas: 96 by 96, and the name in two lines below. */
function boxesOf({ nodes }: Example): { notes: Box[]; nodes: Box[] } {
	const boxes = nodes.map(({ name, type, position: [left, top], parameters }) => {
		const { width = 96, height = 96 + 44 } = parameters;
		return { type, name, left, top, right: left + width, bottom: top + height };
	});
	return { notes: boxes.filter(isNote), nodes: boxes.filter((box) => !isNote(box)) };
}

const overlap = (one: Box, other: Box) =>
	one.left < other.right &&
	other.left < one.right &&
	one.top < other.bottom &&
	other.top < one.bottom;

test.each(readdirSync(folder))('in %s nothing lies over a note or over another node', (file) => {
	const { notes, nodes } = boxesOf(read(file));
	expect(notes.length).toBeGreaterThan(0);
	const all = [...notes, ...nodes];
	const pairs = all.flatMap((one, at) => all.slice(at + 1).map((other) => [one, other] as const));
	const lying = pairs.filter(([one, other]) => overlap(one, other));
	expect(lying.map(([one, other]) => `${one.name} / ${other.name}`)).toEqual([]);
});

const pages = readFileSync(path.join(folder, '..', 'docs', 'examples.md'), 'utf8');

test.each(readdirSync(folder))(
	'%s has one name: in n8n, in its note and on the page of examples',
	(file) => {
		const { name, nodes } = read(file);
		const note = nodes.find(isNote)?.parameters.content;
		expect(note?.split('\n')[0]).toBe(`## ${name}`);
		const [, section = ''] = pages.split(`\n## ${name}\n`);
		expect(section.split('\n## ')[0]).toContain(`../examples/${file})`);
	},
);

test.each(readdirSync(folder))('%s needs no code and no typed expression', (file) => {
	const { nodes } = read(file);
	expect(nodes.filter(({ type }) => /code|function/i.test(type.replace(/^.*\./, '')))).toEqual(
		[],
	);
	const written = nodes
		.filter((one) => !isNote(one))
		.map(({ parameters }) => JSON.stringify(parameters));
	const expressions = written.flatMap((text) =>
		[...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, inner = '']) => inner.trim()),
	);
	const others = expressions.filter(
		(inner) => !plainExpressions.some((plain) => plain.test(inner)),
	);
	expect(others).toEqual([]);
});

test.each(readdirSync(folder))(
	'the note of %s names what its sign-in needs beyond the defaults',
	(file) => {
		const { nodes } = read(file);
		const note = nodes.find(isNote)?.parameters.content ?? '';
		const needsMore = nodes.some((one) => !isNote(one) && needsFullAccess({ ...one }));
		expect(/\*\*(Mail|Drive) Access\*\*/.test(note)).toBe(needsMore);
	},
);
