// A disk that takes no more: the operating system refuses n8n every write beyond a size (RLIMIT_FSIZE).
import { runCommand } from '../../dev/n8n/command.ts';
import { root } from '../../dev/n8n/installN8n.ts';
import { connectInRow, manualTrigger, node } from './startTestN8n';
import { Station, until } from './station';

const MiB = 1024 * 1024;
const station = new Station();

/** @param bytes size beyond which no file of n8n grows; undefined: no limit */
async function limitFiles(bytes: number | undefined): Promise<void> {
	const limit = bytes === undefined ? 'unlimited' : String(bytes);
	await runCommand('prlimit', ['--pid', String(station.n8n.pid), `--fsize=${limit}:unlimited`], {
		cwd: root,
	});
}

afterEach(async () => {
	await limitFiles(undefined);
});

test('an answer that cannot be stored fails its item, and the agent is not started again by Retry On Fail', async () => {
	const file = { body: Buffer.alloc(24 * MiB), contentType: 'application/octet-stream' };
	station.service.script(file, file);
	const agent = node(
		'Agent',
		'n8n-nodes-agent-workspace.agentExecute',
		{ startStepName: 'start', task: 'Say hello' },
		{ credentials: station.credentials, retryOnFail: true, maxTries: 3, waitBetweenTries: 10 },
	);
	const stored = await station.n8n.api.createWorkflow({
		name: 'full',
		nodes: [manualTrigger(), agent],
		connections: connectInRow('Start', 'Agent'),
	});
	// The database stays below it.
	await limitFiles(16 * MiB);
	const full = await station.n8n.api.run(stored);
	expect(full.resultData.error).toMatchObject({
		message: 'n8n could not save a file of 25,165,824 bytes',
		description: expect.stringMatching(
			/^The agent was started, but .* has free space.*EFBIG/,
		) as string,
	});
	expect(station.service.requests).toHaveLength(1);

	await limitFiles(undefined);
	expect((await station.n8n.api.run(stored)).status).toBe('success');
});

test('a message that the database has no room for is told in the log, and starts its execution when it is sent again', async () => {
	const options = { deduplicationField: 'id' };
	const stored = await station.publish(station.workflow('room', { options }));
	await until(station.isOpen('room'));
	await limitFiles(1);
	station.service.send('room', { id: 1 });
	await until(() => station.n8n.output().includes('1 message was not accepted by n8n'));
	await limitFiles(undefined);
	// No one remembers its ID.
	station.service.send('room', { id: 1 });
	await until(async () => (await station.messagesOf(stored)).length === 1);
});
