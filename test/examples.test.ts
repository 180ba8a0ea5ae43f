import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Box {
	readonly name: string;
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

const folder = path.join(__dirname, '..', 'examples');

/** What n8n draws for a node, in pixels of the canvas: 96 by 96, and the name in two lines below. */
function boxesOf(file: string): { notes: Box[]; nodes: Box[] } {
	const text = readFileSync(path.join(folder, file), 'utf8');
	const { nodes } = JSON.parse(text) as {
		nodes: Array<{
			name: string;
			type: string;
			position: [number, number];
			parameters: { width?: number; height?: number };
		}>;
	};
	const boxes = nodes.map(({ name, type, position: [left, top], parameters }) => {
		const { width = 96, height = 96 + 44 } = parameters;
		return { type, name, left, top, right: left + width, bottom: top + height };
	});
	const isNote = ({ type }: { type: string }) => type === 'n8n-nodes-base.stickyNote';
	return { notes: boxes.filter(isNote), nodes: boxes.filter((box) => !isNote(box)) };
}

const overlap = (one: Box, other: Box) =>
	one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

test.each(readdirSync(folder))('in %s nothing lies over a note or over another node', (file) => {
	const { notes, nodes } = boxesOf(file);
	expect(notes.length).toBeGreaterThan(0);
	const all = [...notes, ...nodes];
	const pairs = all.flatMap((one, at) => all.slice(at + 1).map((other) => [one, other] as const));
	const lying = pairs.filter(([one, other]) => overlap(one, other));
	expect(lying.map(([one, other]) => `${one.name} / ${other.name}`)).toEqual([]);
});
