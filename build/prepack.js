// Runs before `npm pack` and `npm publish`, and refuses a build that was not made from the present sources.
const path = require('node:path');

const { staleness } = require('./stamp');

const root = path.join(__dirname, '..');

staleness(root, path.join(root, 'dist')).then((reason) => {
	if (reason === undefined) return;
	console.error(`\nNot packed: ${reason}. Run: npm run build\n`);
	process.exitCode = 1;
});
