const path = require('node:path');

const written = /\b__dirname\b/g;
const marked = /__folderOfSource\(["']([^"']*)["']\)/g;

/**
 * Rolldown plugin that makes `__dirname` in one of our sources mean its folder in dist, whichever chunk the code ends up in. So
 * the same expression finds a worker file beside the sources and in dist.
 *
 * @param {string} root
 */
const sourceFolder = (root) => ({
	name: 'source-folder',
	transform(code, id) {
		if (id.includes('node_modules') || !path.isAbsolute(id) || !written.test(code)) return undefined;
		const folder = path.relative(root, path.dirname(id)).replaceAll(path.sep, '/');
		return { code: code.replaceAll(written, `__folderOfSource('${folder}')`), map: null };
	},
	renderChunk(code, { fileName }) {
		if (!code.includes('__folderOfSource')) return undefined;
		return {
			code: code.replaceAll(marked, (_, folder) => {
				const relative = path.posix.relative(path.posix.dirname(fileName), folder) || '.';
				return `require('node:path').join(__dirname, '${relative}')`;
			}),
			map: null,
		};
	},
});

module.exports = { sourceFolder };
