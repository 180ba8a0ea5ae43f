import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The layers of the package, from the top down: a file imports only from its own layer and from those below it. Each file belongs
 * to the longest path that fits. docs/architecture.md shows the same order.
 */
export const layers = [
	'credentials',
	'nodes/Agent/AgentExecute',
	'nodes/Agent/AgentSessionTrigger',
	'nodes/Agent/credentialTests',
	'nodes/Agent/session',
	'nodes/Workspace',
	'nodes/Workspace/methods',
	'nodes/Workspace/runner',
	'nodes/Workspace/resources.ts',
	'nodes/Workspace/actions',
	'nodes/Workspace/operation.ts',
	'nodes/Workspace/locators.ts',
	'nodes/Workspace/idempotency.ts',
	'nodes/Workspace/google',
	'nodes/Workspace/byteSource.ts',
	'nodes/http',
	'nodes/fields',
	'nodes/untrusted',
	'nodes/core',
];

/** @param file relative to the repository @returns its place in the list; undefined where it belongs to no layer */
function findLayer(file) {
	const fits = layers.filter((layer) => file === layer || file.startsWith(`${layer}/`));
	const longest = fits.sort((a, b) => b.length - a.length)[0];
	return longest === undefined ? undefined : layers.indexOf(longest);
}

/**
 * @param file relative to the repository
 * @param target what it imports, likewise
 * @returns what is wrong with that, if anything
 */
export function describeWrongImport(file, target) {
	const [from, to] = [findLayer(file), findLayer(target)];
	if (from === undefined || to === undefined) return undefined;
	if (to < from)
		return `Imports go down: ${layers[to]} is above ${layers[from]} (dev/lint/layers.mjs).`;
	const getFolder = (one) => one.split('/').slice(0, 3).join('/');
	const isNode = (one) => /^nodes\/Agent\/Agent\w+$/.test(getFolder(one));
	const isOtherNode =
		(isNode(file) && isNode(target) && getFolder(file) !== getFolder(target)) ||
		(file.startsWith('nodes/Agent/') && target.startsWith('nodes/Workspace/'));
	return isOtherNode ? 'The nodes do not know each other.' : undefined;
}

function resolveTarget(file, specifier) {
	const target = path.resolve(path.dirname(file), specifier);
	return existsSync(`${target}.ts`) ? `${target}.ts` : target;
}

/** Imports go down, also those of types and those at first use. */
export const importsGoDown = {
	meta: { type: 'problem', schema: [] },
	create(context) {
		const check = (node) => {
			if (typeof node.source?.value !== 'string' || !node.source.value.startsWith('.'))
				return;
			const relative = (file) => path.relative(context.cwd, file).split(path.sep).join('/');
			const target = resolveTarget(context.filename, node.source.value);
			const message = describeWrongImport(relative(context.filename), relative(target));
			if (message !== undefined) context.report({ node, message });
		};
		return {
			ImportDeclaration: check,
			ImportExpression: check,
			ExportNamedDeclaration: check,
			ExportAllDeclaration: check,
		};
	},
};
