import { gzipSync } from 'node:zlib';

import { startAgentService } from '../../../dev/agent-service/server.ts';
import { messageArrival } from '../../../nodes/Agent/AgentSessionTrigger/items';
import { Intake } from '../../../nodes/Agent/session/intake';
import { apiKey, numbered, runExecute } from './executeRun';

const bomb = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);

test('four answers at once, 61 kB each that unpack to 63 MB of nothing, are refused unparsed', async () => {
	const body = gzipSync(bomb(63_000_000));
	const headers = { 'content-encoding': 'gzip' };
	const answer = { body, headers, contentType: 'application/json' };
	const service = await startAgentService({ apiKey, execute: () => answer });
	const node = { onError: 'continueRegularOutput' as const };
	const items = await runExecute(service, { items: numbered(4), node });
	expect(items.map(({ json }) => (json.error as { code: number; message: string }).message)).toEqual(
		Array(4).fill("The agent service's response needs more memory than n8n has"),
	);
	expect(service.requests).toHaveLength(4);
	await service.close();
});

test('a message takes as much of the queue as it takes of the memory', () => {
	const take = (frame: Buffer) => messageArrival(new Intake('s1', 'auto').take(frame, false, '')).byteLength;
	expect(take(bomb(300_000))).toBeGreaterThan(7_000_000);
	expect(take(Buffer.from('"short"'))).toBe(7 + 24);
	expect(take(Buffer.from('text'))).toBe(4);
});

test('a message that would take too much is passed on as the text that it is', () => {
	const message = new Intake('s1', 'auto').take(bomb(63_000_000), false, '');
	expect([message.format, message.byteLength]).toEqual(['text', 63_000_004]);
});
