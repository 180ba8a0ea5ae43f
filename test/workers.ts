import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** In a process of its own: the bundler is an ES module, which jest does not run. */
export default function buildWorkers(): void {
	execFileSync(process.execPath, [path.join(__dirname, '..', 'build', 'workers.js')], { stdio: 'inherit' });
}
