import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const importStatement = /^\s*(?:import|export)\b[^'"]*?\bfrom\s+['"](\.[^'"]+)['"]/gm;

/** The imports of each file, including types. A run of the linter reads each file once. */
const importsByFile = new Map();

function resolveImport(from, specifier) {
	const target = path.resolve(path.dirname(from), specifier);
	return [target, `${target}.ts`, path.join(target, 'index.ts')].find(
		(file) => file.endsWith('.ts') && existsSync(file),
	);
}

function findImportedFiles(file) {
	if (!importsByFile.has(file)) {
		const specifiers = [...readFileSync(file, 'utf8').matchAll(importStatement)].map(
			([, specifier]) => specifier,
		);
		importsByFile.set(
			file,
			specifiers.flatMap((specifier) => resolveImport(file, specifier) ?? []),
		);
	}
	return importsByFile.get(file);
}

/** The shortest import path from a file back to itself. */
export function findImportCircle(start) {
	const cameFrom = new Map(findImportedFiles(start).map((file) => [file, start]));
	for (const file of cameFrom.keys()) {
		if (file === start) break;
		for (const next of findImportedFiles(file)) {
			if (!cameFrom.has(next)) cameFrom.set(next, file);
		}
	}
	if (!cameFrom.has(start)) return undefined;
	const way = [start];
	do way.unshift(cameFrom.get(way[0]));
	while (way[0] !== start);
	return way;
}

/**
 * A file must not import itself through other files, not even for types: such files can only be understood
 * together.
 */
export const noImportCircle = {
	meta: { type: 'problem', schema: [] },
	create: (context) => ({
		Program(node) {
			const circle = findImportCircle(context.filename);
			if (!circle) return;
			const names = circle.map((file) => path.relative(context.cwd, file)).join(' -> ');
			context.report({ node, message: `Import circle: ${names}` });
		},
	}),
};
