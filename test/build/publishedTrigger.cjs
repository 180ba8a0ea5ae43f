// A built trigger in a process of its own, published in n8n's own trigger context. Told `unload`, it forgets the package's modules as n8n
// does when the package is updated; the trigger that is published goes on with the code that it has.
require('reflect-metadata');
const { TriggerContext } = require('n8n-core');
const { Workflow } = require('n8n-workflow');

const [file, root, credentials] = process.argv.slice(2);
const values = JSON.parse(credentials);
const { AgentSessionTrigger } = require(file);
const nodeType = new AgentSessionTrigger();
const node = {
	id: 'n1',
	name: 'Trigger',
	type: 'test.trigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: { sessionIds: 's1' },
	credentials: Object.fromEntries(
		Object.keys(values).map((type) => [type, { id: type, name: type }]),
	),
};
const nodeTypes = {
	getByName: () => nodeType,
	getByNameAndVersion: () => nodeType,
	getKnownTypes: () => ({}),
};
const workflow = new Workflow({
	id: 'w1',
	nodes: [node],
	connections: {},
	active: true,
	nodeTypes,
});
const credentialsHelper = {
	isCredentialUsableByNode: () => true,
	getParentTypes: () => [],
	getDecrypted: (_data, _node, type) => Promise.resolve({ ...values[type] }),
};
const fail = (error) => {
	throw error;
};
const context = new TriggerContext(
	workflow,
	workflow.getNode('Trigger'),
	{ credentialsHelper },
	'trigger',
	'activate',
	([items]) => process.send({ emitted: items.map(({ json }) => json.message) }),
	fail,
	fail,
);

process.on('message', () => {
	// As in n8n-core's DirectoryLoader.unloadAll().
	for (const name of Object.keys(require.cache))
		if (name.startsWith(root)) delete require.cache[name];
	process.send({ unloaded: true });
});
void nodeType.trigger.call(context);
