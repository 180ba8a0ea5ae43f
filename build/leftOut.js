const { readFileSync } = require('node:fs');
const path = require('node:path');

const refusing = "throw new Error('not part of this package');";
const inPlace = (name) => readFileSync(path.join(__dirname, 'inPlaceOf', name), 'utf8');

/**
 * Replacements for packages whose code the product never reaches, by the package that requires them.
 *
 * Google's clients send through our transport, which writes the query itself: Google's own sign-in, fetch, HTTP/2 and query
 * writer are dead weight. So are nodemailer's fetch and its own tables of media types, since an email is composed of what n8n has, and debug's output. ws looks for
 * two native add-ons that most installations lack: they are as absent here (an empty module would count as present).
 */
const namedCharacters = { 'decode-named-character-reference': inPlace('namedCharacters.js') };
const replaced = {
	'googleapis-common': {
		gaxios: inPlace('gaxios.js'),
		qs: `exports.stringify = () => { ${refusing} };`,
		'./http2': `exports.request = () => { ${refusing} };`,
	},
	nodemailer: {
		'../fetch/index.js': `module.exports = () => { ${refusing} };`,
		'./mime-types.js': inPlace('mimeTypes.js'),
	},
	'https-proxy-agent': { debug: inPlace('debug.js') },
	'agent-base': { debug: inPlace('debug.js') },
	'proxy-agent-negotiate': { debug: inPlace('debug.js') },
	micromark: namedCharacters,
	'micromark-core-commonmark': namedCharacters,
	'micromark-util-decode-string': namedCharacters,
	'mdast-util-from-markdown': namedCharacters,
	ws: { bufferutil: refusing, 'utf-8-validate': refusing },
};

/**
 * Files to load in place of a package's index, which loads more: the one function that generated clients use, a client without
 * a server, and the escaping half of `entities`, of which dom-serializer would bring an older version.
 */
const narrowed = {
	'googleapis-common': 'build/src/apirequest.js',
	ws: 'lib/websocket.js',
	entities: 'dist/esm/escape.js',
};

const marker = '\0left-out:';

/** Rolldown plugin. */
const leaveOut = (root) => ({
	name: 'leave-out',
	resolveId: {
		filter: {
			id: new RegExp(
				`^(${names()
					.map((name) => name.replaceAll('.', '\\.'))
					.join('|')})$`,
			),
		},
		handler(name, importer = '') {
			const asking = packageOf(importer) ?? '';
			if (replaced[asking]?.[name] !== undefined) return `${marker}${asking}:${name}`;
			const file = asking === name ? undefined : narrowed[name];
			return file && path.join(root, 'node_modules', name, file);
		},
	},
	load: {
		filter: { id: new RegExp(`^${marker}`) },
		handler(id) {
			const [asking, name] = id.slice(marker.length).split(':');
			return replaced[asking][name];
		},
	},
	transform: {
		filter: { id: /mime-db[\\/]db\.json$/ },
		handler: (code) => {
			// A text on one line, of which an object is made: printed as code, each type would take five lines.
			const types = JSON.stringify(JSON.stringify(withEndings(JSON.parse(code))));
			return { code: `module.exports = JSON.parse(${types});`, moduleType: 'js' };
		},
	},
});

function names() {
	return [...Object.values(replaced).flatMap((requests) => Object.keys(requests)), ...Object.keys(narrowed)];
}

/** Removes the nine in ten media types that have no file name extension. */
function withEndings(types) {
	return Object.fromEntries(
		Object.entries(types)
			.filter(([, { extensions }]) => extensions)
			.map(([type, { extensions, source }]) => [type, { source, extensions }]),
	);
}

/** Name of the package that a file belongs to, or undefined for one of ours. */
function packageOf(file) {
	return /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1].replaceAll('\\', '/');
}

module.exports = { leaveOut, packageOf };
