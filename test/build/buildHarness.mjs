// Bundles what builtRuns.cjs needs of n8n, because a process that reads its 1,700 files is ready after a second of work.
import path from 'node:path';
import { rolldown } from 'rolldown';

const root = path.join(import.meta.dirname, '..', '..');
const [target] = process.argv.slice(2);

/** What n8n loads and no run here uses. Whoever uses it gets an error. */
const absent = /^(@langchain\/.*|@sentry\/.*|fast-glob|isolated-vm|ssh2)$/;
const stub = `
	class BaseToolkit {}
	module.exports = new Proxy({ BaseToolkit }, {
		get(known, name) {
			if (name in known || name === '__esModule') return known[name];
			throw new Error('test/build/buildHarness.mjs leaves it out: ' + String(name));
		},
	});`;
const leaveOut = {
	name: 'leave-out',
	resolveId: (id) => (absent.test(id) ? '\0absent.cjs' : undefined),
	load: (id) => (id === '\0absent.cjs' ? stub : undefined),
};

const build = await rolldown({
	cwd: root,
	input: {
		harness: path.join(root, 'test', 'createExecuteContext.ts'),
		// The nodes find it by NODE_PATH. It must be the one that the harness has.
		'n8n-workflow': path.join(root, 'node_modules', 'n8n-workflow', 'dist', 'cjs', 'index.js'),
	},
	platform: 'node',
	resolve: { conditionNames: ['node', 'require'] },
	plugins: [leaveOut],
	logLevel: 'silent',
});
await build.write({ dir: target, format: 'cjs', entryFileNames: '[name].js' });
await build.close();
