import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(__dirname, '..', '..', 'docs');

/**
 * A page of `docs/` as it is, and as it should be.
 * @param made Markdown that stands between the marks
 */
export function generatedPart(
	file: string,
	made: string,
	command = 'npm run docs',
): { readonly target: string; readonly text: string; readonly current: string } {
	const [begin, end] = [
		`<!-- made from the code by ${command} -->`,
		'<!-- end of what is made from the code -->',
	];
	const target = path.join(folder, file);
	const text = readFileSync(target, 'utf8');
	const [before = '', rest = ''] = text.split(begin);
	const after = rest.split(end)[1] ?? '';
	const page = `${before}${begin}\n\n${made}\n\n${end}${after}`;
	const prettier = [require.resolve('prettier/bin/prettier.cjs'), '--stdin-filepath', target];
	const current = execFileSync(process.execPath, prettier, { input: page, encoding: 'utf8' });
	return { target, text, current };
}
