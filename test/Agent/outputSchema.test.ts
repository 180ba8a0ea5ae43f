import { startAgentService } from '../../dev/agent-service/server';
import agentExecute from '../../nodes/Agent/AgentExecute/__schema__/v1.0.0.json';
import agentSessionTrigger from '../../nodes/Agent/AgentSessionTrigger/__schema__/v1.0.0.json';
import { disagreements } from '../outputSchema';
import { apiKey, runExecute } from './AgentExecute/executeRun';
import { Published } from './AgentSessionTrigger/published';
import { until } from './AgentSessionTrigger/triggerRun';

const published = new Published();

test('an answer of the agent is what the schema says', async () => {
	const service = await startAgentService({ apiKey });
	service.script({ status: 200, body: { text: 'Done' } });
	const [item] = await runExecute(service);
	await service.close();
	expect(disagreements(agentExecute, item?.json)).toEqual([]);
});

test('a message of a session is what the schema says', async () => {
	const run = await published.listening({ sessionIds: 's1' });
	published.service.send('s1', { text: 'Done' });
	await until(() => run.items.length === 1);
	expect(disagreements(agentSessionTrigger, run.items[0]?.json)).toEqual([]);
});
