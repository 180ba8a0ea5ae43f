import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { watchFolders } from '../../dev/reload';
import { turns } from '../turns';

let top: string;
let stop: () => void;
let edited: string[];

beforeEach(() => {
	top = mkdtempSync(path.join(tmpdir(), 'watched-'));
	mkdirSync(path.join(top, 'inner'));
	writeFileSync(path.join(top, 'inner', 'a.ts'), '0');
	edited = [];
	stop = watchFolders(top, (file) => edited.push(file));
});
afterEach(() => {
	stop();
	rmSync(top, { recursive: true });
});

/** Waits until the edit of the file is told. */
async function told(file: string, edit: () => void): Promise<void> {
	// What the edit before has left is told first.
	await turns(50);
	edited.length = 0;
	edit();
	while (!edited.includes(file)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const at = (...names: string[]) => path.join(top, ...names);

test('a file that is replaced, as by git or sed, is told each time, and edited in place afterwards', async () => {
	for (const text of ['1', '2', '3']) {
		await told('a.ts', () => {
			writeFileSync(at('inner', 'new'), text);
			renameSync(at('inner', 'new'), at('inner', 'a.ts'));
		});
	}
	await told('a.ts', () => {
		writeFileSync(at('inner', 'a.ts'), '4');
	});
});

test('a folder that is made, and one that was removed and is made again, are watched', async () => {
	for (const text of ['1', '2']) {
		await told('more', () => {
			mkdirSync(at('more'));
		});
		await told('b.ts', () => {
			writeFileSync(at('more', 'b.ts'), text);
		});
		await told('more', () => {
			rmSync(at('more'), { recursive: true });
		});
	}
});
