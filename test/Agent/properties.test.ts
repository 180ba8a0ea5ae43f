import { type INodeProperties, type INodeType, NodeHelpers } from 'n8n-workflow';

import { AgentApi } from '../../credentials/AgentApi.credentials';
import { AgentSignatureApi } from '../../credentials/AgentSignatureApi.credentials';
import { startAgentService } from '../../dev/agent-service/server';
import agentExecute from '../../nodes/Agent/AgentExecute/__schema__/v1.0.0.json';
import { AgentExecute } from '../../nodes/Agent/AgentExecute/AgentExecute.node';
import { options as executeDefinitions } from '../../nodes/Agent/AgentExecute/parameters';
import agentSessionTrigger from '../../nodes/Agent/AgentSessionTrigger/__schema__/v1.0.0.json';
import { AgentSessionTrigger } from '../../nodes/Agent/AgentSessionTrigger/AgentSessionTrigger.node';
import { triggerOptions as triggerDefinitions } from '../../nodes/Agent/AgentSessionTrigger/fields';
import { readParameters } from '../../nodes/fields/params';
import { findDisagreements } from '../outputSchema';
import { apiKey, runExecute } from './AgentExecute/executeRun';
import { Published } from './AgentSessionTrigger/published';
import { until } from './AgentSessionTrigger/triggerRun';

/** Public names and defaults: workflows save only what differs from them. */
const texts = { initialMessage: '', pingText: '', deduplicationField: '' };
const channel = { heartbeatSeconds: 25, ...texts };

const filter = { filterField: '', filterValue: '' };

const execute = {
	...{ sessionId: '', startStepName: '' },
	...{ payloadMode: 'taskAndInput', task: '', input: '', payloadJson: '{}' },
	...{ waitForMessages: false, waitUntil: 'silence', matchField: '', matchValue: '' },
	...{ messageCount: 1, silenceSeconds: 5, waitTimeoutSeconds: 300 },
};

const executeOptions = {
	...{ enableStreaming: true, includeInputFields: false, parallelRequests: 10 },
	signatureOverride: { values: { signature: '', timestamp: 0, userId: '', userPublicKey: '' } },
	...{ textField: 'text', textPieces: 'last' },
	timeLimits: { limits: { maxRetryWaitSeconds: 60, timeoutSeconds: 300 } },
};

const waitOptions = {
	...{ ...channel, ...filter, failureField: 'type', failureValue: '' },
	...{ onWaitTimeout: 'error', openChannel: 'before' },
};

const trigger = { sessionIds: '', ...filter };

const triggerOptions = {
	...{ ...channel, batchSize: 1, batchWaitMilliseconds: 0 },
	...{ connectionEvents: false, maxConcurrentExecutions: 10 },
};

const defaultsOf = (properties: readonly INodeProperties[]) =>
	Object.fromEntries(properties.map((property) => [property.name, property.default]));

const allOptions = { ...executeOptions, ...waitOptions };

test.each([
	['Agent Execute', new AgentExecute(), execute, allOptions, executeDefinitions],
	['Trigger', new AgentSessionTrigger(), trigger, triggerOptions, triggerDefinitions],
])(
	'%s has its fields and options with their defaults',
	(_, { description }, fields, options, definitions) => {
		const own = description.properties.filter(
			({ type }) => type !== 'collection' && type !== 'notice',
		);
		const collections = description.properties.filter(({ type }) => type === 'collection');
		const inCollections = collections.flatMap(
			(collection) => (collection.options ?? []) as INodeProperties[],
		);
		expect(defaultsOf(own)).toEqual(fields);
		// An option that is added to say yes says yes at once; where nobody added it, it is what `options` says.
		const inForm = Object.entries(options).map(([name, value]) => [
			name,
			typeof value === 'boolean' || value,
		]);
		expect(defaultsOf(inCollections)).toEqual(Object.fromEntries(inForm));
		for (const { options: entries = [] } of collections)
			expect(entries.length).toBeLessThanOrEqual(10);
		const switches = definitions.filter(({ type }) => type === 'boolean');
		expect(options).toMatchObject(
			readParameters(switches, {}, { mode: 'fields', timezone: 'UTC' }),
		);
		expect(switches.length).toBeGreaterThan(0);
	},
);

test.each([
	[new AgentExecute(), 'payloadMode', ['taskAndInput', 'json']],
	[new AgentExecute(), 'waitUntil', ['silence', 'match', 'count', 'close']],
	[new AgentExecute(), 'textPieces', ['last', 'joined']],
	[new AgentExecute(), 'openChannel', ['before', 'after']],
	[new AgentExecute(), 'onWaitTimeout', ['error', 'output']],
])('%# %s: %s', ({ description: { properties } }, name, values) => {
	const all = properties.flatMap((property) => [
		property,
		...((property.options ?? []) as INodeProperties[]),
	]);
	const choices = (all.find((property) => property.name === name)?.options ?? []) as Array<{
		value: string;
	}>;
	expect(choices.map(({ value }) => value).sort()).toEqual([...values].sort());
});

type Form = readonly INodeProperties[];

/** Fields and options alike. */
const formOf = ({ description: { properties } }: INodeType): Form => [
	...properties.filter(({ type }) => type !== 'collection'),
	...properties.flatMap(({ type, options = [] }) =>
		type === 'collection' ? (options as Form) : [],
	),
];

const seconds = [0.1, undefined, 1];
const heartbeatSeconds = [0, 3600];
const waitLimits = { messageCount: [1], silenceSeconds: seconds, waitTimeoutSeconds: seconds };
const batchLimits = { batchSize: [1], batchWaitMilliseconds: [0], maxConcurrentExecutions: [1] };

test.each([
	[new AgentExecute(), { heartbeatSeconds, parallelRequests: [1, 100], ...waitLimits }],
	[new AgentSessionTrigger(), { heartbeatSeconds, ...batchLimits }],
])(
	'%# takes numbers from and to, with so many decimals',
	(node, limits: Record<string, unknown>) => {
		const numbers = formOf(node).filter(({ type }) => type === 'number');
		const taken = numbers.map(
			({ name, typeOptions: { minValue, maxValue, numberPrecision } = {} }) => {
				return [name, [minValue, maxValue, numberPrecision]] as const;
			},
		);
		const expected = Object.entries(limits).map(([name, given]) => {
			const [from, to, decimals = 0] = given as number[];
			return [name, [from, to, decimals]] as const;
		});
		expect(Object.fromEntries(taken)).toEqual(Object.fromEntries(expected));
	},
);

const namesOf = (form: Form, holds: (property: INodeProperties) => unknown) =>
	form.filter(holds).map(({ name }) => name);

const fixed = ['payloadMode', 'waitUntil', 'includeInputFields'];
const api = ['deploymentUrl', 'webSocketUrl', 'apiKey'];
const signer = ['userId', 'userPublicKey', 'signature'];

test.each([
	['AgentExecute', formOf(new AgentExecute()), ['startStepName'], fixed, []],
	['AgentSessionTrigger', formOf(new AgentSessionTrigger()), ['sessionIds'], [], []],
	['AgentApi', new AgentApi().properties, api, [], ['apiKey']],
	['AgentSignatureApi', new AgentSignatureApi().properties, signer, [], ['signature']],
])(
	'%s marks what is required, takes no expression, or is hidden',
	(_, form, required, fixed, hidden) => {
		expect(namesOf(form, (property) => property.required)).toEqual(required);
		expect(namesOf(form, (property) => property.noDataExpression)).toEqual(fixed);
		expect(namesOf(form, ({ typeOptions }) => typeOptions?.password)).toEqual(hidden);
	},
);

test('a session ID is dragged into its field: nobody is told to type an expression', () => {
	const { properties } = new AgentExecute().description;
	const { hint } = properties.find(({ name }) => name === 'sessionId') ?? {};
	expect(hint).toContain('drag sessionId of the Chat Trigger');
	expect(hint).not.toContain('{{');
});

test("n8n resolves each user's own values in the signature credential", () => {
	const own = namesOf(new AgentSignatureApi().properties, (property) => property.resolvableField);
	expect(own).toEqual(['userId', 'userPublicKey', 'signature', 'issuedTimestamp']);
});

test.each([
	['match', ['matchField', 'matchValue']],
	['count', ['messageCount']],
	['silence', ['silenceSeconds']],
	['close', []],
])('what a wait by %s needs is shown with it only', (waitUntil, fields) => {
	const node = new AgentExecute();
	const shown = (waitForMessages: boolean) =>
		namesOf(formOf(node), (property) =>
			NodeHelpers.displayParameter({ waitForMessages, waitUntil }, property, null, null),
		);
	const options = Object.keys({ ...triggerOptions, ...executeOptions, ...waitOptions });
	const more = shown(true).filter((name) => !shown(false).includes(name));
	const own = more.filter((name) => !options.includes(name));
	expect(own).toEqual(['waitUntil', ...fields, 'waitTimeoutSeconds']);
	expect(shown(false).filter((name) => !shown(true).includes(name))).toEqual([]);
});

test.each([new AgentExecute(), new AgentSessionTrigger()])(
	'%# needs both credentials',
	({ description }) => {
		expect(description.version).toBe(1);
		expect(description.credentials).toMatchObject([
			{ name: 'agentApi', required: true },
			{ name: 'agentSignatureApi', required: true },
		]);
	},
);

describe('output schema', () => {
	const published = new Published();

	test('an answer of the agent is what the schema says', async () => {
		const service = await startAgentService({ apiKey });
		service.script({ status: 200, body: { text: 'Done' } });
		const [item] = await runExecute(service);
		await service.close();
		expect(findDisagreements(agentExecute, item?.json)).toEqual([]);
	});

	test('a message of a session is what the schema says', async () => {
		const run = await published.listening({ sessionIds: 's1' });
		published.service.send('s1', { text: 'Done' });
		await until(() => run.items.length === 1);
		expect(findDisagreements(agentSessionTrigger, run.items[0]?.json)).toEqual([]);
	});
});
