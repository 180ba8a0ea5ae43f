// Runs before tests from the sources. A worker thread cannot run TypeScript that spans several files, so each
// *.worker.ts is bundled into a *.worker.js beside it, where `__dirname` finds it as it does in dist.
const { existsSync, globSync, mkdtempSync, renameSync, rmSync, statSync } = require('node:fs');
const path = require('node:path');

const { bundle } = require('./bundle');

const root = path.join(__dirname, '..');

async function buildWorkers() {
	const workers = globSync('nodes/**/*.worker.ts', { cwd: root });
	for (const worker of workers) {
		const made = path.join(root, worker.replace(/\.ts$/, '.js'));
		if (isFresh(made)) continue;
		// The file is put in place in one step, because another run of the tests may be reading it.
		const folder = mkdtempSync(path.join(path.dirname(made), '.worker-'));
		try {
			await bundle({ root, entries: [worker], target: folder, split: false });
			renameSync(path.join(folder, path.relative(root, made)), made);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	}
}

function isFresh(made) {
	if (!existsSync(made)) return false;
	const sources = [...globSync('{nodes,build}/**/*.{ts,js}', { cwd: root }), 'package-lock.json'];
	const { mtimeMs } = statSync(made);
	return sources.every(
		(file) => file.endsWith('.worker.js') || statSync(path.join(root, file)).mtimeMs < mtimeMs,
	);
}

buildWorkers().catch((error) => {
	console.error(error);
	process.exitCode = 1;
});
