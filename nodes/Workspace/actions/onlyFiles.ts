import { listType } from '../../fields/field';
import type { Field } from '../operation';

export const onlyFilesOption = {
	displayName: 'Only Files Named',
	name: 'onlyFiles',
	...listType,
	// If an expression finds no names, all other files would be sent, too.
	mustBeFound: true,
	placeholder: 'e.g. *.pdf, invoice*',
	description:
		'Names of the files to use, separated by commas or new lines, in upper or lower case. * stands for any characters, and pdf means *.pdf. Leave empty to use all files.',
} as const satisfies Field;

/**
 * Creates a test for file names. Without patterns, every name passes.
 * @param patterns such as `*.pdf`, or `pdf` for the same
 */
export function createFileNameTest(patterns: readonly string[]): (name: string) => boolean {
	if (patterns.length === 0) return () => true;
	// An extension, such as `pdf`, `.pdf` or `.tar.gz`.
	const extensions = patterns.filter((pattern) => /^(?:\.[^*]+|[^.*]+)$/.test(pattern));
	const extensionPatterns = extensions.map((extension) => `*.${extension.replace('.', '')}`);
	const allPatterns = [...patterns, ...extensionPatterns];
	const pieceLists = allPatterns.map((pattern) => foldName(pattern).split('*'));
	return (name) => pieceLists.some((pieces) => matchesPieces(foldName(name), pieces));
}

/** Returns the same text for names that look the same: a Mac writes ä as two characters. */
const foldName = (text: string) => text.normalize('NFC').toLowerCase();

/**
 * Returns whether a name consists of these pieces, with any characters between them. A regular
 * expression could take long.
 */
function matchesPieces(name: string, pieces: readonly string[]): boolean {
	const [start = '', ...laterPieces] = pieces;
	const end = laterPieces.pop();
	if (end === undefined) return name === start;
	if (!name.startsWith(start) || !name.endsWith(end)) return false;
	let position = start.length;
	for (const piece of laterPieces) {
		const foundAt = name.indexOf(piece, position);
		if (foundAt === -1) return false;
		position = foundAt + piece.length;
	}
	return position <= name.length - end.length;
}
