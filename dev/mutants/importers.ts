import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Files by what imports them, directly or through others; all paths from the root. */
export class Importers {
	readonly #importers = new Map<string, Set<string>>();

	constructor(root: string) {
		for (const file of globSync('{nodes,credentials,test,dev}/**/*.ts', { cwd: root })) {
			const text = readFileSync(path.join(root, file), 'utf8');
			for (const [, name = ''] of text.matchAll(
				/(?:from|import\(|requireActual[^(]*\()\s*'(\.[^']+)'/g,
			)) {
				const target = resolved(root, path.join(path.dirname(file), name));
				if (target === undefined) continue;
				this.#importers.set(target, (this.#importers.get(target) ?? new Set()).add(file));
			}
		}
	}

	/** Tests that a change of the file may fail: those of its folder and the nearest ones first. */
	testsOf(file: string, isTest: (file: string) => boolean): string[] {
		const seen = new Set([file]);
		// A set is walked in the order of insertion, also over what is inserted meanwhile: by distance.
		for (const one of seen)
			for (const importer of this.#importers.get(one) ?? []) seen.add(importer);
		const folders = path.dirname(file).split('/').slice(1);
		const shared = (test: string) => {
			const others = path.dirname(test).split('/').slice(1);
			return folders.filter((folder) => others.includes(folder)).length;
		};
		return [...seen].filter(isTest).sort((a, b) => shared(b) - shared(a));
	}
}

function resolved(root: string, target: string): string | undefined {
	const candidates = [target, `${target}.ts`, path.join(target, 'index.ts')];
	return candidates.find(
		(one) => existsSync(path.join(root, one)) && statSync(path.join(root, one)).isFile(),
	);
}
