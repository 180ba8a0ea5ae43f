const { existsSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/** Folder of the package that a bundled file came from, or undefined for our own files. */
function packageFolder(input) {
	const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
	return match?.[1];
}

function notice(root, folder) {
	const manifest = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
	const files = readdirSync(path.join(root, folder)).filter((name) =>
		/^(licen[cs]e|notice|copying)/i.test(name),
	);
	const texts = files.map((name) => readFileSync(path.join(root, folder, name), 'utf8').trim());
	const head = `${manifest.name} ${manifest.version} (${licenceName(manifest)})`;
	return [head, '-'.repeat(head.length), ...(texts.length > 0 ? texts : [withoutFile(manifest)])].join(
		'\n\n',
	);
}

function licenceName({ license }) {
	return typeof license === 'string' ? license : (license?.type ?? 'licence not named');
}

function withoutFile(manifest) {
	const author = typeof manifest.author === 'object' ? manifest.author.name : manifest.author;
	return `The package ships no licence file. Its manifest names ${licenceName(manifest)}${author ? `, author ${author}` : ''}.`;
}

/** Writes the licence and notice texts of every package of which code is in the bundles. */
async function writeNotices({ root, inputs, target }) {
	const folders = [...new Set(inputs.map(packageFolder).filter(Boolean))].sort();
	const missing = folders.filter((folder) => !existsSync(path.join(root, folder, 'package.json')));
	if (missing.length > 0) throw new Error(`No package.json in ${missing.join(', ')}`);
	const intro = 'This package contains code of the following packages, under the licences given with each.';
	writeFileSync(
		path.join(root, target),
		[intro, ...folders.map((folder) => notice(root, folder))].join('\n\n\n') + '\n',
	);
}

module.exports = { writeNotices };
