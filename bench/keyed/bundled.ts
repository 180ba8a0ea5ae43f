import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

type Bundle = (options: {
	root: string;
	entries: string[];
	target: string;
	split: boolean;
}) => Promise<unknown>;

/**
 * A benchmark file together with the product's sources, bundled like the product, to run in a separate
 * process.
 */
export class Bundled {
	readonly file: string;
	private readonly folder: string;

	private constructor(folder: string, entry: string) {
		this.folder = folder;
		this.file = path.join(folder, entry.replace(/\.ts$/, '.js'));
	}

	/** @param entry path from the root of the package */
	static async build(entry: string): Promise<Bundled> {
		const root = path.join(import.meta.dirname, '../..');
		const { bundle } = createRequire(import.meta.url)('../../build/bundle.js') as { bundle: Bundle };
		const folder = mkdtempSync(path.join(tmpdir(), 'bench-'));
		// The thread's code is a file of its own, where the product looks for it.
		const entries = [entry, 'nodes/untrusted/untrusted.worker.ts'];
		await bundle({ root, entries, target: folder, split: true });
		symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
		return new Bundled(folder, entry);
	}

	remove(): void {
		rmSync(this.folder, { recursive: true, force: true });
	}
}
