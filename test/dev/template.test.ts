import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type * as TemplateModule from '../../dev/n8n/template';

const name = `template-test-${process.pid}`;

/** jest gives every test file modules of its own, in the same process where it has only one. */
function freshTemplate(): TemplateModule.Template {
	let template: TemplateModule.Template | undefined;
	jest.isolateModules(() => {
		const { Template } = jest.requireActual<typeof TemplateModule>('../../dev/n8n/template');
		template = new Template(name);
	});
	if (!template) throw new Error('no template');
	return template;
}

it('copies of one process are different folders, whichever test file makes them', async () => {
	const { folder } = freshTemplate();
	try {
		await mkdir(folder, { recursive: true });
		await writeFile(path.join(folder, 'database'), '');
		const copies = [await freshTemplate().copy(), await freshTemplate().copy()];
		expect(new Set(copies).size).toBe(2);
	} finally {
		await rm(path.dirname(folder), { recursive: true });
	}
});
