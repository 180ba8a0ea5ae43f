const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/**
 * The packages of which code is in the bundle.
 *
 * @param {string} root
 * @param {string[]} inputs bundled files, relative to `root`
 * @returns {{ folder: string, name: string, version: string, license: string, text: string }[]}
 */
function bundledPackages(root, inputs) {
	const folders = inputs.map(
		(input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input.replaceAll(path.sep, '/'))?.[1],
	);
	return [...new Set(folders)]
		.filter(Boolean)
		.sort()
		.map((folder) => describe(root, folder));
}

function describe(root, folder) {
	const manifest = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
	const { name, version } = manifest;
	const license = typeof manifest.license === 'string' ? manifest.license : (manifest.license?.type ?? '');
	const texts = readdirSync(path.join(root, folder))
		.filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
		.map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim());
	return { folder, name, version, license, text: texts.join('\n\n') || withoutFile(manifest, license) };
}

function withoutFile({ author }, license) {
	const by = typeof author === 'object' ? author.name : author;
	return `The package ships no licence file. Its manifest names ${license}${by ? `, author ${by}` : ''}.`;
}

/** Writes the licenses: each text once, under all the packages that share it and their copyright lines. */
function writeNotices({ root, inputs, target }) {
	const shared = new Map();
	for (const one of bundledPackages(root, inputs)) {
		const { copyright, terms } = parts(one.text);
		const key = terms.replaceAll(/[\s*]+/g, ' ').toLowerCase();
		const known = shared.get(key) ?? { terms, heads: [] };
		known.heads.push([`${one.name} ${one.version} (${one.license})`, ...copyright].join('\n    '));
		shared.set(key, known);
	}
	const intro = 'This package contains code of the following packages, under the licences given with each.';
	const sections = [...shared.values()].map(({ heads, terms }) => `${heads.join('\n')}\n\n${terms}`);
	writeFileSync(target, `${[intro, ...sections].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

/** A copyright line names its holder; the terms below it are the same in many packages. */
function parts(text) {
	const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.trim());
	const isCopyright = (paragraph) =>
		paragraph.split('\n').every((line) => /^\s*(copyright\b|\(c\)|©)/i.test(line)) && paragraph.length < 400;
	const isTitle = (paragraph) =>
		/^[#(\s]*(the\s+)?(mit|isc|bsd)[^\n]{0,40}licen[cs]e\)?\s*$/i.test(paragraph);
	return {
		copyright: paragraphs.filter(isCopyright).flatMap((paragraph) => paragraph.split('\n')),
		terms: paragraphs.filter((paragraph) => !isCopyright(paragraph) && !isTitle(paragraph)).join('\n\n'),
	};
}

module.exports = { bundledPackages, writeNotices };
