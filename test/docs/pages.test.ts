// `npm run docs` writes the parts of the pages that follow from the code; this test says whether they are current.
import { writeFileSync } from 'node:fs';

import { generatedPart } from './generatedPart';
import { generated } from './pages';

test.each(Object.entries(generated))('docs/%s says what the code does', (file, make) => {
	const { target, text, current } = generatedPart(file, make());
	if (process.env.WRITE_DOCS) writeFileSync(target, current);
	else expect(text).toBe(current);
});
