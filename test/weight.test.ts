import path from 'node:path';

import { weigh } from '../dev/lint/weight.mjs';

const root = path.dirname(__dirname);

/** Whoever needs more than this first looks for what the package can do without. */
test('the product weighs no more than this', () => {
	const weight = weigh(['nodes', 'credentials'].map((folder) => path.join(root, folder)));
	expect(weight.tokens).toBeLessThanOrEqual(158_500);
	expect(weight.operatorsPerLine).toBeLessThanOrEqual(0.166);
	expect(weight.tokensPerLine).toBeLessThanOrEqual(8.05);
	expect(weight.busyPercent).toBeLessThanOrEqual(5);
});
