// Before `npm pack` and `npm publish`: only what was built from the sources as they are may be packed.
const path = require('node:path');

const { staleness } = require('./stamp');

const root = path.join(__dirname, '..');

staleness(root, path.join(root, 'dist')).then((reason) => {
	if (reason === undefined) return;
	console.error(`\nNot packed: ${reason}. Run: npm run build\n`);
	process.exitCode = 1;
});
