// Each promise of docs/reliability.md and SECURITY.md names the test that shows it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '..', '..');
const pages = ['docs/reliability.md', 'SECURITY.md'].map((name) => {
	const text = readFileSync(path.join(root, name), 'utf8');
	const links = [...text.matchAll(/\["([^\]]+)"\]\(([^)]+\.test\.ts)\)/g)].map(
		([, title = '', file = '']) => ({
			title,
			file: path.join(root, path.dirname(name), file),
		}),
	);
	const files = [...text.matchAll(/\]\([^)]*test\/[^)]+\)/g)];
	return { name, links, files };
});
const links = pages.flatMap((page) => page.links);

test.each(pages)('$name has promises, and names tests by titles that a reader understands', (page) => {
	expect(page.links.length).toBe(page.files.length);
	expect(page.links.length).toBeGreaterThan(20);
	// What stands for a value in the title of a table's test says nothing here.
	expect(page.links.filter(({ title }) => /[%$]/.test(title))).toEqual([]);
});

test.each(links)('"$title" is a test', ({ title, file }) => {
	expect(existsSync(file)).toBe(true);
	expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(title);
});
