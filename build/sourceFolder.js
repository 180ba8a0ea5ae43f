const path = require('node:path');

const dirnamePattern = /\b__dirname\b/g;
const markerPattern = /__folderOfSource\(["']([^"']*)["']\)/g;

/**
 * Creates a Rolldown plugin for `__dirname` in our sources. In dist, it is the folder that corresponds to the source folder, whatever chunk
 * has the code. So the same expression finds a worker file beside the sources and in dist.
 *
 * @param {string} root the folder of the project
 */
const sourceFolder = (root) => ({
	name: 'source-folder',
	transform(code, id) {
		if (id.includes('node_modules') || !path.isAbsolute(id) || !dirnamePattern.test(code))
			return undefined;
		const folder = path.relative(root, path.dirname(id)).replaceAll(path.sep, '/');
		return {
			code: code.replaceAll(dirnamePattern, `__folderOfSource('${folder}')`),
			map: null,
		};
	},
	renderChunk(code, { fileName }) {
		if (!code.includes('__folderOfSource')) return undefined;
		return {
			code: code.replaceAll(markerPattern, (_, folder) => {
				const relative = path.posix.relative(path.posix.dirname(fileName), folder) || '.';
				return `require('node:path').join(__dirname, '${relative}')`;
			}),
			map: null,
		};
	},
});

module.exports = { sourceFolder };
