// Runs before tests from the sources. A worker thread cannot run TypeScript that spans several files, so each
// *.worker.ts is bundled into a *.worker.js beside it, where `__dirname` finds it as it does in dist.
const { existsSync, globSync, mkdtempSync, renameSync, rmSync, statSync } = require('node:fs');
const path = require('node:path');

const { bundle } = require('./bundle');

const root = path.join(__dirname, '..');

async function buildWorkers() {
	const workers = globSync('nodes/**/*.worker.ts', { cwd: root });
	for (const worker of workers) {
		const bundleFile = path.join(root, worker.replace(/\.ts$/, '.js'));
		if (isFresh(bundleFile)) continue;
		// The bundle is renamed into its place, because another run of the tests may be reading the file.
		const folder = mkdtempSync(path.join(path.dirname(bundleFile), '.worker-'));
		try {
			await bundle({ root, entries: [worker], target: folder, split: false });
			renameSync(path.join(folder, path.relative(root, bundleFile)), bundleFile);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	}
}

function isFresh(bundleFile) {
	if (!existsSync(bundleFile)) return false;
	const sources = [
		...globSync('{nodes,build}/**/*.{ts,js,json}', { cwd: root }),
		'package-lock.json',
	];
	const { mtimeMs } = statSync(bundleFile);
	return sources.every(
		(file) => file.endsWith('.worker.js') || statSync(path.join(root, file)).mtimeMs < mtimeMs,
	);
}

buildWorkers().catch((error) => {
	console.error(error);
	process.exitCode = 1;
});
