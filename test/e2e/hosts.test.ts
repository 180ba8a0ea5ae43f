import path from 'node:path';

import { contacted, hostsIn, onlyNamed } from '../hosts';
import { template } from './globalSetup';

test('the package that is installed, with all its libraries, names no host that the code does not', async () => {
	const installed = path.join(
		await template.copy(),
		'.n8n',
		'nodes',
		'node_modules',
		'n8n-nodes-agent-workspace',
	);
	const hosts = hostsIn(installed, ['dist'], /\.(js|json)$/);
	expect(hosts.filter((host) => ![...contacted, ...onlyNamed].includes(host))).toEqual([]);
	expect(hosts).toEqual(expect.arrayContaining(contacted));
});
