import { globSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const tests = path.join(__dirname, '..');
const load = createRequire(__filename);
const ending = '.test.ts';

/**
 * Runs the tests of a folder below test/ in one process, each file in a `describe` of its own. A file alone takes seconds to load n8n,
 * and tabs of one Chromium slow each other down.
 * @param file whose name says the folder: `Agent.session.test.ts` is for test/Agent/session. Folders that have a file of their own
 * are left out
 */
export function runTogether(file: string): void {
	const folder = folderOf(path.basename(file));
	const others = readdirSync(__dirname).filter((name) => name.endsWith(ending));
	const inside = others.map(folderOf).filter((other) => other.startsWith(`${folder}${path.sep}`));
	runAll(folder, inside);
}

/** Runs the tests of all folders that have no file of their own, and of test/ itself. @param suites folders that are left out, too */
export function runTheOthers(suites: readonly string[]): void {
	const others = readdirSync(__dirname).filter((name) => name.endsWith(ending));
	runAll('', [...suites, 'together', ...others.map(folderOf)]);
}

const folderOf = (name: string) => name.slice(0, -ending.length).replaceAll('.', path.sep);

function runAll(folder: string, without: readonly string[]): void {
	const files = globSync(path.join(folder, '**', `*${ending}`), { cwd: tests });
	const isLeftOut = (file: string) => without.some((other) => file.startsWith(other + path.sep));
	for (const file of files.sort()) {
		if (isLeftOut(file)) continue;
		describe(file, () => {
			load(path.join(tests, file));
		});
	}
}
