import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '..', '..');
const docs = path.join(root, 'docs');
const pages = ['README.md', ...readdirSync(docs).filter((name) => name.endsWith('.md'))];

/** Pictures of a page, relative to the root. */
function picturesOf(page: string): string[] {
	const isReadme = page === 'README.md';
	const text = readFileSync(path.join(isReadme ? root : docs, page), 'utf8');
	const addresses = [...text.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(
		([, address = '']) => address,
	);
	return addresses.map((address) => (isReadme ? address : path.join('docs', address)));
}

test('every picture that a page shows is there, and the README opens with one', () => {
	const shown = pages.flatMap(picturesOf);
	expect(shown).toContain('docs/images/at-work.webp');
	const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
	expect(readme.split('\n').find((line) => line !== '' && !line.startsWith('#'))).toContain(
		'](docs/images/at-work.webp)',
	);
	expect(shown.filter((picture) => !existsSync(path.join(root, picture)))).toEqual([]);
});

test('every picture is shown on some page', () => {
	const shown = new Set(pages.flatMap(picturesOf));
	const all = readdirSync(path.join(docs, 'images')).map((name) => `docs/images/${name}`);
	expect(all.filter((picture) => !shown.has(picture))).toEqual([]);
});
