import type { INodeProperties } from 'n8n-workflow';

import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';

/** Public names and defaults: workflows save only what differs from them. */
const channel = {
	finalCloseCodes: '',
	heartbeatSeconds: 25,
	initialMessage: '',
	maxMessageBytes: 16_777_216,
	pingText: '',
	deduplicationField: '',
	filterField: '',
	filterValue: '',
};

const execute = {
	sessionId: '',
	startStepName: '',
	payloadMode: 'taskAndInput',
	task: '',
	input: '',
	payloadJson: '{}',
	waitForMessages: false,
	waitUntil: 'silence',
	matchField: '',
	matchValue: '',
	messageCount: 1,
	silenceSeconds: 5,
};

const executeOptions = {
	...channel,
	enableStreaming: true,
	failureField: 'type',
	failureValue: '',
	includeHeaders: false,
	maxMessages: 10_000,
	maxResponseBytes: 67_108_864,
	maxRetryWaitSeconds: 60,
	maxTries: 5,
	messageFormat: 'auto',
	onWaitTimeout: 'error',
	openChannel: 'before',
	parallelRequests: 10,
	settleMilliseconds: 250,
	signature: '',
	textField: 'text',
	textPieces: 'last',
	timeoutSeconds: 300,
	timestamp: 0,
	userId: '',
	userPublicKey: '',
	waitTimeoutSeconds: 300,
};

const trigger = { sessionIds: '', messageFormat: 'auto' };

const triggerOptions = {
	...channel,
	batchSize: 1,
	batchWaitMilliseconds: 0,
	connectionEvents: false,
	maxConcurrentExecutions: 10,
	maxQueuedBytes: 67_108_864,
	maxQueuedMessages: 10_000,
	onQueueFull: 'pause',
	reconnectMaxDelaySeconds: 60,
};

const defaultsOf = (properties: readonly INodeProperties[]) =>
	Object.fromEntries(properties.map((property) => [property.name, property.default]));

test.each([
	['Agent Execute', new AgentExecute(), execute, executeOptions],
	['Agent Session Trigger', new AgentSessionTrigger(), trigger, triggerOptions],
])('%s has its fields and options with their defaults', (_, { description }, fields, options) => {
	const own = description.properties.filter(({ type }) => type !== 'collection' && type !== 'notice');
	const collection = description.properties.find(({ name }) => name === 'options');
	expect(defaultsOf(own)).toEqual(fields);
	expect(defaultsOf((collection?.options ?? []) as INodeProperties[])).toEqual(options);
});

test.each([
	[new AgentExecute(), 'payloadMode', ['taskAndInput', 'json']],
	[new AgentExecute(), 'waitUntil', ['silence', 'match', 'count', 'close']],
	[new AgentExecute(), 'textPieces', ['last', 'joined']],
	[new AgentExecute(), 'openChannel', ['before', 'after']],
	[new AgentExecute(), 'onWaitTimeout', ['error', 'output']],
	[new AgentExecute(), 'messageFormat', ['auto', 'json', 'text', 'binary']],
	[new AgentSessionTrigger(), 'messageFormat', ['auto', 'json', 'text', 'binary']],
	[new AgentSessionTrigger(), 'onQueueFull', ['pause', 'dropOldest']],
])('%# %s: %s', ({ description: { properties } }, name, values) => {
	const all = properties.flatMap((property) => [
		property,
		...((property.options ?? []) as INodeProperties[]),
	]);
	const choices = (all.find((property) => property.name === name)?.options ?? []) as Array<{ value: string }>;
	expect(choices.map(({ value }) => value).sort()).toEqual([...values].sort());
});
