import { readFileSync } from 'node:fs';
import path from 'node:path';

import { contacted, findHosts, onlyNamed } from './hosts';

const root = path.join(__dirname, '..');

test('the code names the hosts that it contacts, and no other', () => {
	expect(findHosts(root, ['nodes', 'credentials'], /\.(ts|json)$/)).toEqual(
		[...contacted, ...onlyNamed].sort(),
	);
});

test('SECURITY.md lists them', () => {
	const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
	for (const host of contacted) expect(text).toContain(`\`${host}\``);
});
