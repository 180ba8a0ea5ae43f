// Each promise of docs/reliability.md and SECURITY.md names the test that shows it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(__dirname, '..', '..');
const pages = ['docs/reliability.md', 'SECURITY.md'].map((name) => {
	const text = readFileSync(path.join(root, name), 'utf8');
	const links = [...text.matchAll(/\["([^\]]+)"\]\(([^)]+\.test\.ts)\)/g)].map(
		([, title = '', file = '']) => ({ title, file: path.join(root, path.dirname(name), file) }),
	);
	const files = [...text.matchAll(/\]\([^)]*test\/[^)]+\.test\.ts\)/g)];
	return { name, links, files };
});
const links = pages.flatMap((page) => page.links);

test.each(pages)(
	'$name has promises, and names tests by titles that a reader understands',
	(page) => {
		expect(page.links.length).toBe(page.files.length);
		expect(page.links.length).toBeGreaterThan(20);
		// What stands for a value in the title of a table's test says nothing here.
		expect(page.links.filter(({ title }) => /[%$]/.test(title))).toEqual([]);
	},
);

/** The titles of a file's tests, each alone and behind those of the groups that it is in, as jest prints them. */
function readTitles(file: string): string[] {
	const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
	const titles: string[] = [];
	const visit = (node: ts.Node, groups: readonly string[]): void => {
		const { kind, names } = readCall(node, source);
		if (kind === 'test')
			for (const name of names) titles.push(...new Set([name, [...groups, name].join(' ')]));
		ts.forEachChild(node, (child) => {
			visit(child, kind === 'describe' ? [...groups, ...names] : groups);
		});
	};
	visit(source, []);
	return titles;
}

/** What a call declares, and under which titles: `test('…')`, `test.each(rows)('…')`, `describe('…')`. */
function readCall(
	node: ts.Node,
	source: ts.SourceFile,
): { kind?: 'test' | 'describe'; names: string[] } {
	if (!ts.isCallExpression(node)) return { names: [] };
	const {
		expression,
		arguments: [title],
	} = node;
	const [declared] = /^(test|it|describe)\b/.exec(expression.getText(source)) ?? [];
	if (declared === undefined || title === undefined) return { names: [] };
	const name =
		ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)
			? title.getText(source)
			: '';
	if (name === '') return { names: [] };
	const kind = declared === 'describe' ? declared : 'test';
	const names = name === "'%s'" ? readRowNames(expression) : [fillIn(name)];
	return { kind, names };
}

/** A value of a table stands as … in a title. */
const fillIn = (literal: string) =>
	literal
		.slice(1, -1)
		.replaceAll(/\$\{[^}]*\}|%[a-z#]|\$\w+/g, '…')
		.replaceAll("\\'", "'");

/** Where the first cell is the whole title, the first cells. */
function readRowNames(each: ts.Expression): string[] {
	const [table] = ts.isCallExpression(each) ? each.arguments : [];
	if (table === undefined || !ts.isArrayLiteralExpression(table)) return [];
	return table.elements
		.map((cells) => (ts.isArrayLiteralExpression(cells) ? cells.elements[0] : cells))
		.flatMap((cell) => (cell !== undefined && ts.isStringLiteralLike(cell) ? [cell.text] : []));
}

test.each(links)('"$title" is a test', ({ title, file }) => {
	// Another test of this title would be shown by none of them.
	expect(readTitles(file).filter((one) => one === title)).toEqual([title]);
});
