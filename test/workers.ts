import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Bundles the worker files in a process of its own, because the bundler is an ES module, which jest does not run. */
export default function buildWorkers(): void {
	execFileSync(process.execPath, [path.join(__dirname, '..', 'build', 'workers.js')], {
		stdio: 'inherit',
	});
}
