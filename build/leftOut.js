const { readFileSync } = require('node:fs');
const path = require('node:path');

const throwingCode = "throw new Error('not part of this package');";
const readReplacement = (name) => readFileSync(path.join(__dirname, 'inPlaceOf', name), 'utf8');

/**
 * The code in place of modules that the product never uses, by the package that requires them.
 *
 * Google's clients send with our transport, which also writes the query. They do not need Google's sign-in, fetch, HTTP/2 and query writer.
 * nodemailer does not need its fetch, because it gets the bytes of all attachments, and not its tables of MIME types, because `mime-types`
 * has them. ws looks for two native add-ons that most installations lack. They throw here, because ws would use an empty module.
 */
const namedCharacters = {
	'decode-named-character-reference': readReplacement('namedCharacters.js'),
};
const replacements = {
	'googleapis-common': {
		gaxios: readReplacement('gaxios.js'),
		qs: `exports.stringify = () => { ${throwingCode} };`,
		'./http2': `exports.request = () => { ${throwingCode} };`,
	},
	nodemailer: {
		'../fetch/index.js': `module.exports = () => { ${throwingCode} };`,
		'./mime-types.js': readReplacement('mimeTypes.js'),
	},
	'https-proxy-agent': { debug: readReplacement('debug.js') },
	'agent-base': { debug: readReplacement('debug.js') },
	'proxy-agent-negotiate': { debug: readReplacement('debug.js') },
	micromark: namedCharacters,
	'micromark-core-commonmark': namedCharacters,
	'micromark-util-decode-string': namedCharacters,
	'mdast-util-from-markdown': namedCharacters,
	ws: { bufferutil: throwingCode, 'utf-8-validate': throwingCode },
};

/**
 * The files to load in place of a package's index, which loads more. They have the one function that Google's clients use, ws without its
 * server, and the part of `entities` that escapes. dom-serializer would add an older version of `entities`.
 */
const smallerFiles = {
	'googleapis-common': 'build/src/apirequest.js',
	ws: 'lib/websocket.js',
	entities: 'dist/esm/escape.js',
};

const marker = '\0left-out:';

/** Creates the Rolldown plugin that leaves out this code. */
const leaveOut = (root) => ({
	name: 'leave-out',
	resolveId: {
		filter: {
			id: new RegExp(
				`^(${listReplacedNames()
					.map((name) => name.replaceAll('.', '\\.'))
					.join('|')})$`,
			),
		},
		handler(name, importer = '') {
			const importerPackage = findPackage(importer) ?? '';
			if (replacements[importerPackage]?.[name] !== undefined)
				return `${marker}${importerPackage}:${name}`;
			const file = importerPackage === name ? undefined : smallerFiles[name];
			return file && path.join(root, 'node_modules', name, file);
		},
	},
	load: {
		filter: { id: new RegExp(`^${marker}`) },
		handler(id) {
			const [importerPackage, name] = id.slice(marker.length).split(':');
			return replacements[importerPackage][name];
		},
	},
	transform: {
		filter: { id: /mime-db[\\/]db\.json$/ },
		handler: (code) => {
			// The object is parsed from a text on one line, because as code, each type would take five lines.
			const types = JSON.stringify(JSON.stringify(removeUnusedTypes(JSON.parse(code))));
			return { code: `module.exports = JSON.parse(${types});`, moduleType: 'js' };
		},
	},
});

function listReplacedNames() {
	return [
		...Object.values(replacements).flatMap((requests) => Object.keys(requests)),
		...Object.keys(smallerFiles),
	];
}

/** Removes the MIME types without a file name extension, which are nine in ten. */
function removeUnusedTypes(types) {
	return Object.fromEntries(
		Object.entries(types)
			.filter(([, { extensions }]) => extensions)
			.map(([type, { extensions, source }]) => [type, { source, extensions }]),
	);
}

/** Returns the name of the package that a file belongs to, or undefined for one of our files. */
function findPackage(file) {
	return /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1].replaceAll('\\', '/');
}

module.exports = { leaveOut, findPackage };
