// `npm run docs` writes the parts of the pages that follow from the code; this test says whether they are current.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { withOperations } from '../../dev/operationsTable';
import { resources } from '../../nodes/Workspace/resources';
import { generatedPart } from './generatedPart';
import { generated } from './pages';

test.each(Object.entries(generated))('docs/%s says what the code does', (file, make) => {
	const { target, text, current } = generatedPart(file, make());
	if (process.env.WRITE_DOCS) writeFileSync(target, current);
	else expect(text).toBe(current);
});

test('the README lists the operations', () => {
	const target = path.join(__dirname, '..', '..', 'README.md');
	const text = readFileSync(target, 'utf8');
	const current = withOperations(text, resources);
	if (process.env.WRITE_DOCS) writeFileSync(target, current);
	else expect(text).toBe(current);
});

const root = path.join(__dirname, '..', '..');
const pages = [root, path.join(root, 'docs')].flatMap((folder) =>
	readdirSync(folder)
		.filter((file) => file.endsWith('.md'))
		.map((file) => path.join(folder, file)),
);

test.each(pages.map((page) => [path.relative(root, page), page] as const))(
	'%s holds nothing of a merge',
	(_, page) => {
		expect(readFileSync(page, 'utf8')).not.toMatch(/^[\s>\\]*(<{7}|={7}|(> ?){7})/m);
	},
);
