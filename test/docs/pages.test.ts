// `npm run docs` writes the parts of the pages that follow from the code; this test says whether they are current.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { generated } from './pages';

const folder = path.join(__dirname, '..', '..', 'docs');
const [begin, end] = [
	'<!-- made from the code by npm run docs -->',
	'<!-- end of what is made from the code -->',
];

test.each(Object.entries(generated))('docs/%s says what the code does', (file, make) => {
	const target = path.join(folder, file);
	const text = readFileSync(target, 'utf8');
	const [before = '', rest = ''] = text.split(begin);
	const after = rest.split(end)[1] ?? '';
	const page = `${before}${begin}\n\n${make()}\n\n${end}${after}`;
	const prettier = [require.resolve('prettier/bin/prettier.cjs'), '--stdin-filepath', target];
	const current = execFileSync(process.execPath, prettier, { input: page, encoding: 'utf8' });
	if (process.env.WRITE_DOCS) writeFileSync(target, current);
	else expect(text).toBe(current);
});
