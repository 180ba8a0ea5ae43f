import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { findImportCircle } from '../dev/lint/importCircles.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'circles-'));
const write = (name: string, text: string) => {
	writeFileSync(path.join(folder, `${name}.ts`), text);
};
const circle = (name: string) =>
	findImportCircle(path.join(folder, `${name}.ts`))?.map((file) => path.basename(file, '.ts'));

afterAll(() => {
	rmSync(folder, { recursive: true });
});

test('a circle is found, by way of types and of several lines of names too', () => {
	write('a', "import type {\n\tB,\n} from './b';\nexport interface A { b: B }\n");
	write('b', "export type { C as B } from './c';\n");
	write('c', "import { a } from './a';\nexport type C = typeof a;\n");
	write('d', "import './a';\nimport { join } from 'node:path';\nimport type { A } from './a';\n");
	expect(circle('a')).toEqual(['a', 'b', 'c', 'a']);
	expect(circle('d')).toBeUndefined();
});
