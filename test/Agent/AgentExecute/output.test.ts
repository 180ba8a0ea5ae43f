import type { IDataObject } from 'n8n-workflow';

import { AgentExecute } from '../../../nodes/Agent/AgentExecute/AgentExecute.node';
import { highlightAnswer, hintsOf, LiveView, tagExecution } from '../../../nodes/Agent/AgentExecute/output';
import type { Waited } from '../../../nodes/Agent/AgentExecute/wait';
import { type ContextOptions, executeContext } from '../../executeContext';

const contextOf = (more: Partial<ContextOptions> = {}) =>
	executeContext({ nodeType: new AgentExecute(), ...more });

test('an execution is found by each of its sessions, as long as n8n keeps their IDs whole', () => {
	const context = contextOf();
	for (const id of ['s1', 's2', 's1']) tagExecution(context, id);
	const kept = () => [context.customData.getAll(), context.getExecuteData().metadata?.tracing];
	expect(kept()).toEqual([{ session_id: 's1, s2' }, { session_id: 's1, s2' }]);
	tagExecution(context, 'x'.repeat(256 - 's1, s2, '.length));
	expect(kept()).toEqual([{ session_id: 's1, s2' }, { session_id: 's1, s2' }]);
	const longest = 'x'.repeat(255 - 's1, s2, '.length);
	tagExecution(context, longest);
	expect(context.customData.getAll()).toEqual({ session_id: `s1, s2, ${longest}` });
});

test.each<[unknown, Partial<ContextOptions>, string | undefined]>([
	['Done.', {}, 'Done.'],
	['x'.repeat(300), {}, 'x'.repeat(255)],
	['', {}, undefined],
	[null, {}, undefined],
	['Done.', { node: { type: 'test.nodeTool' } }, undefined],
])('of the answer %j n8n highlights its beginning (%j)', (output, more, expected) => {
	const context = contextOf(more);
	highlightAnswer(context, [{ json: { output } as IDataObject }, { json: { output: 'second' } }]);
	expect(Object.values(context.customData.getAll())).toEqual(expected === undefined ? [] : [expected]);
});

test("the editor's console shows messages of up to 10,000 bytes whole", () => {
	const shown: unknown[] = [];
	const context = contextOf({ onConsole: (messages) => shown.push(messages) });
	const live = new LiveView(context, 0, { enableStreaming: false } as LiveViewOptions);
	const show = (byteLength: number, format: 'text' | 'binary' = 'text') => {
		const envelope = { sessionId: 's1', sequence: 1, receivedAt: '', byteLength };
		if (format === 'text') live.message({ ...envelope, format, message: 'words' });
		else live.message({ ...envelope, format, message: null, bytes: Buffer.from('x') });
		return JSON.stringify(shown.pop());
	};
	expect(show(10_000)).toContain('words');
	expect(show(10_001)).toContain('(10001 bytes, text)');
	expect(show(1, 'binary')).toContain('(1 bytes, binary)');
});

type LiveViewOptions = ConstructorParameters<typeof LiveView>[2];

describe('a hint', () => {
	const waited = { messages: [], repeated: 0, gap: false } as unknown as Waited;
	const hints = (json: IDataObject, more: Partial<Waited> = {}, binary?: object) =>
		hintsOf({ json, ...(binary && { binary: binary as never }) }, { textField: 'text' } as LiveViewOptions, {
			waited: { ...waited, ...more },
		});

	test('says that no message came', () => {
		expect(hints({ output: null })).toEqual(["'output' is null: no message came."]);
	});

	test('is not needed for a text, or a file', () => {
		expect([hints({ output: 'x' }), hints({ output: null }, {}, { data: {} })]).toEqual([[], []]);
	});

	test('names no fields where there are none', () => {
		const messages = [{ message: 7 }] as unknown as Waited['messages'];
		expect(hints({ output: null }, { messages })).toEqual([
			"'output' is null, because the messages have no text in the field 'text'.",
		]);
	});

	test('counts what was left out, unless a lost channel explains that it was sent twice', () => {
		expect(hints({ output: 'x' }, { repeated: 1 })).toEqual([expect.stringContaining('before: 1.')]);
		expect(hints({ output: 'x' }, { repeated: 1, gap: true })).toEqual([]);
	});
});
