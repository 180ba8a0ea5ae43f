// Each promise of docs/reliability.md names the test that shows it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(__dirname, '..', '..', 'docs');
const page = readFileSync(path.join(folder, 'reliability.md'), 'utf8');
const links = [...page.matchAll(/\["([^\]]+)"\]\(([^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => ({
	title,
	file: path.join(folder, file),
}));

test('there are promises, and each test that is named has a title that a reader understands', () => {
	const files = [...page.matchAll(/\]\([^)]*test\//g)];
	expect(links.length).toBe(files.length);
	expect(links.length).toBeGreaterThan(20);
	// What stands for a value in the title of a table's test says nothing here.
	expect(links.filter(({ title }) => /[%$]/.test(title))).toEqual([]);
});

test.each(links)('"$title" is a test', ({ title, file }) => {
	expect(existsSync(file)).toBe(true);
	expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(title);
});
