// Writes what the docs take from the code.
// `npm run docs`: the tables. `npm run docs -- faults`: test/faults/report.md, for which every fault is played.
// `npm run docs -- pictures [page …]`: docs/images, which needs chromium and imagemagick.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const bin = (name) => path.join(root, 'node_modules', '.bin', name);
const [what = 'tables', ...pages] = process.argv.slice(2);

function run(command, parameters, env = {}) {
	const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } };
	const { status } = spawnSync(command, parameters, options);
	if (status !== 0) process.exit(status ?? 1);
}

function write(tests, env, ...more) {
	run(bin('node'), [bin('jest'), tests, '--selectProjects', 'unit', ...more], {
		WRITE_DOCS: '1',
		...env,
	});
}

const parts = {
	tables: () => write('test/docs'),
	faults: () => write('test/faults/matrix', { FAULTS: 'all' }),
	pictures: () => {
		run(bin('node'), ['dev/setup.mjs']);
		run(bin('node'), ['dev/pictures.ts', ...pages]);
	},
};

if (parts[what] === undefined) {
	console.error(`npm run docs -- [${Object.keys(parts).join(' | ')}]`);
	process.exit(1);
}
parts[what]();
