const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/**
 * Lists the packages whose code is in the bundle.
 *
 * @param {string} root the folder of the project
 * @param {string[]} inputs the bundled files, relative to `root`
 * @returns {{ folder: string, name: string, version: string, license: string, text: string }[]}
 */
function listBundledPackages(root, inputs) {
	const folders = inputs.map(
		(input) =>
			/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input.replaceAll(path.sep, '/'))?.[1],
	);
	return [...new Set(folders)]
		.filter(Boolean)
		.sort()
		.map((folder) => readPackage(root, folder));
}

/** The SPDX id of packages whose manifest has none. The text that they ship is that of this license. */
const readFromText = { 'url-template': 'BSD-3-Clause' };

function readPackage(root, folder) {
	const manifest = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
	const { name, version } = manifest;
	const named =
		typeof manifest.license === 'string' ? manifest.license : (manifest.license?.type ?? '');
	const license = readFromText[name] ?? named;
	const texts = readdirSync(path.join(root, folder))
		.filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
		.map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim());
	return {
		folder,
		name,
		version,
		license,
		text: texts.join('\n\n') || describeMissingFile(manifest, license),
	};
}

function describeMissingFile({ author }, license) {
	const authorName = typeof author === 'object' ? author.name : author;
	return `The package ships no licence file. Its manifest names ${license}${authorName ? `, author ${authorName}` : ''}.`;
}

/** Writes the licenses. Each text stands once, below all packages that have it, with their copyright lines. */
function writeNotices({ root, inputs, target }) {
	const sectionsByTerms = new Map();
	for (const { name, version, license, text } of listBundledPackages(root, inputs)) {
		const { copyright, terms } = splitLicense(text);
		const key = terms.replaceAll(/[\s*]+/g, ' ').toLowerCase();
		const section = sectionsByTerms.get(key) ?? { terms, heads: [] };
		section.heads.push([`${name} ${version} (${license})`, ...copyright].join('\n    '));
		sectionsByTerms.set(key, section);
	}
	const intro =
		'This package contains code of the following packages, under the licences given with each.';
	const sections = [...sectionsByTerms.values()].map(
		({ heads, terms }) => `${heads.join('\n')}\n\n${terms}`,
	);
	writeFileSync(target, `${[intro, ...sections].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

/** Splits a license into its copyright lines and its terms, because many packages have the same terms. */
function splitLicense(text) {
	const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.trim());
	const isCopyright = (paragraph) =>
		paragraph.split('\n').every((line) => /^\s*(copyright\b|\(c\)|©)/i.test(line)) &&
		paragraph.length < 400;
	const isTitle = (paragraph) =>
		/^[#(\s]*(the\s+)?(mit|isc|bsd)[^\n]{0,40}licen[cs]e\)?\s*$/i.test(paragraph);
	return {
		copyright: paragraphs.filter(isCopyright).flatMap((paragraph) => paragraph.split('\n')),
		terms: paragraphs
			.filter((paragraph) => !isCopyright(paragraph) && !isTitle(paragraph))
			.join('\n\n'),
	};
}

module.exports = { listBundledPackages, writeNotices };
