// Runs before `npm pack` and `npm publish`. Refuses a build that was not made from the current sources.
const path = require('node:path');

const { findStaleness } = require('./stamp');

const root = path.join(__dirname, '..');

findStaleness(root, path.join(root, 'dist')).then((reason) => {
	if (reason === undefined) return;
	console.error(`\nNot packed: ${reason}. Run: npm run build\n`);
	process.exitCode = 1;
});
