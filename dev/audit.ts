// `npm run audit [-- SBOM]`: asks npm for advisories about the versions that are inside the built package, which `npm audit` of the repository
// tells only of the version that development has, and that of an installed package not at all.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { runCommand } from './n8n/command.ts';
import { root } from './n8n/installN8n.ts';

interface Sbom {
	readonly components: ReadonlyArray<{ readonly name: string; readonly version: string }>;
}

/** A lock file that has the packages and nothing else; a second version of a package stands below another one. */
function lockOf({ components }: Sbom): object {
	const packages: Record<string, object> = { '': { name: 'bundled', version: '0.0.0' } };
	for (const { name, version } of components) {
		const first = `node_modules/${name}`;
		packages[first in packages ? `node_modules/second/${first}/${version}/${first}` : first] = {
			version,
		};
	}
	return { name: 'bundled', version: '0.0.0', lockfileVersion: 3, requires: true, packages };
}

async function main(): Promise<void> {
	const file = process.argv[2] ?? path.join(root, 'dist', 'sbom.cdx.json');
	const sbom = JSON.parse(readFileSync(file, 'utf8')) as Sbom;
	const folder = mkdtempSync(path.join(tmpdir(), 'audit-'));
	try {
		writeFileSync(path.join(folder, 'package.json'), '{"name":"bundled","version":"0.0.0"}');
		writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lockOf(sbom)));
		console.log(await runCommand('npm', ['audit', '--package-lock-only'], { cwd: folder }));
		console.log(`No advisory for the ${sbom.components.length} packages inside dist.`);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

await main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
