// What one node refuses, the others refuse, with the same words: before anything is sent.
import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../createExecuteContext';
import { turns } from '../turns';
import { type NodeName, nodeNames, Nodes } from './nodes';

const nodes = new Nodes();

/** Of one kind; where a node has none, the reason stands in its place. */
type Places = Readonly<Record<NodeName, Place | { readonly none: string }>>;
interface Place {
	readonly name: string;
	readonly label: string;
	/** A parameter of its own instead of an option. */
	readonly isParameter?: boolean;
	/** One of the options Time Limits. */
	readonly isTimeLimit?: boolean;
	/** Of another operation. */
	readonly beside?: IDataObject;
}

interface Case {
	readonly name: string;
	readonly value: unknown;
	/** What the message says behind the label; undefined: the value is taken. */
	readonly refused?: string;
}

const noRequests = { none: 'it makes no request that could be tried again' };
const both = (place: Place) => ({ 'Agent Execute': place, Workspace: place });
const channel = (place: Place) => ({ 'its wait': place, 'Agent Session Trigger': place });
const noChannel = { none: 'it opens no channel' };
const requests = (place: Place): Places => ({
	...both(place),
	'its wait': { ...place },
	'Agent Session Trigger': noRequests,
});
const channels = (place: Place): Places => ({
	...channel(place),
	'Agent Execute': noChannel,
	Workspace: noChannel,
});

interface Limits {
	readonly minimum: number;
	readonly maximum: number;
	readonly good: number;
}

const timeLimit = (name: string, label: string) => requests({ name, label, isTimeLimit: true });
const heartbeat = { name: 'heartbeatSeconds', label: 'Heartbeat (Seconds)' };

const numbers: Array<[Places, Limits]> = [
	[
		timeLimit('maxRetryWaitSeconds', 'Time Limits: Max Retry Wait (Seconds)'),
		{ minimum: 0, maximum: 3600, good: 7 },
	],
	[
		timeLimit('timeoutSeconds', 'Time Limits: Timeout (Seconds)'),
		{ minimum: 1, maximum: 3600, good: 9 },
	],
	[channels(heartbeat), { minimum: 0, maximum: 3600, good: 30 }],
	[
		{
			'Agent Execute': { name: 'parallelRequests', label: 'Parallel Requests' },
			'its wait': { name: 'parallelRequests', label: 'Parallel Requests' },
			'Agent Session Trigger': { none: 'it has no items' },
			Workspace: { none: 'what changes something is done in the order of the items' },
		},
		{ minimum: 1, maximum: 100, good: 2 },
	],
];

const numberCases = ({ minimum, maximum, good }: Limits): Case[] => {
	const wanted = (given: unknown) =>
		`must be a whole number from ${minimum} to ${maximum}, not ${String(given)}`;
	return [
		{ name: 'a whole number', value: good },
		{ name: 'the least', value: minimum },
		{ name: 'its digits as text', value: String(good) },
		{ name: 'nothing', value: null },
		{ name: 'an emptied field', value: '' },
		{ name: 'a fraction', value: 1.5, refused: wanted('1.5') },
		{ name: 'too much', value: maximum + 1, refused: wanted(maximum + 1) },
		{ name: 'too little', value: minimum - 1, refused: wanted(minimum - 1) },
		{ name: 'a list', value: [good], refused: wanted('an array') },
		{ name: 'an object', value: { a: 1 }, refused: wanted('an object') },
		{ name: 'a boolean', value: true, refused: wanted('a boolean') },
		{ name: 'a word', value: 'soon', refused: wanted('text') },
		{ name: 'a space', value: ' ', refused: wanted('text') },
	];
};

const switches: Places = {
	'Agent Execute': { name: 'enableStreaming', label: 'Enable Streaming' },
	'its wait': { name: 'enableStreaming', label: 'Enable Streaming' },
	'Agent Session Trigger': { name: 'connectionEvents', label: 'Connection Events' },
	Workspace: { name: 'insertImages', label: 'Insert Images' },
};
const switchCases: Case[] = [
	{ name: 'false', value: false },
	{ name: 'false as text', value: 'false' },
	{ name: 'a number', value: 1, refused: 'must be true or false, not a number' },
	{ name: 'a word', value: 'yes', refused: 'must be true or false, not text' },
	{ name: 'a list', value: [true], refused: 'must be true or false, not an array' },
	{ name: 'an object', value: { a: 1 }, refused: 'must be true or false, not an object' },
];

const texts: Places = {
	'Agent Execute': { name: 'task', label: 'Task', isParameter: true },
	'its wait': { name: 'initialMessage', label: 'Initial Message' },
	'Agent Session Trigger': { name: 'initialMessage', label: 'Initial Message' },
	Workspace: { name: 'title', label: 'Title', isParameter: true },
};
const textCases: Case[] = [
	{ name: 'a text', value: 'some words' },
	{ name: 'a number', value: 42 },
	{ name: 'a boolean', value: true },
	{ name: 'an object', value: { a: 1 }, refused: 'must be text, not an object' },
	{ name: 'a list', value: ['a'], refused: 'must be text, not an array' },
];

const required: Places = {
	'Agent Execute': { name: 'startStepName', label: 'Start Step Name', isParameter: true },
	'its wait': { none: 'it has no field that must be filled in' },
	'Agent Session Trigger': { name: 'sessionIds', label: 'Session IDs', isParameter: true },
	Workspace: { name: 'title', label: 'Title', isParameter: true },
};
const requiredCases: Case[] = [
	{ name: 'a text', value: 'start' },
	{ name: 'an empty text', value: '', refused: 'is required' },
	{ name: 'nothing', value: null, refused: 'is required' },
];

const choices: Places = {
	'Agent Execute': { none: 'its one choice holds for all items, as an operation does' },
	'its wait': { name: 'onWaitTimeout', label: 'On Wait Timeout' },
	'Agent Session Trigger': { none: 'it has no choice' },
	Workspace: { name: 'contentFormat', label: 'Content Format', isParameter: true },
};
const choiceCases: Case[] = [
	{ name: 'an emptied field', value: '' },
	{ name: 'nothing', value: null },
	{ name: 'a word that is none of them', value: 'nonsense', refused: 'must be one of: ' },
	{ name: 'a number', value: 1, refused: 'must be one of: ' },
	{ name: 'a list', value: ['nonsense'], refused: 'must be one of: ' },
];

const search = { resource: 'mail', operation: 'search', query: 'x' };
const lists: Places = {
	'Agent Execute': { none: 'it takes no list' },
	'its wait': { name: 'failureValue', label: 'Failure Message Values' },
	'Agent Session Trigger': {
		name: 'filterValue',
		label: 'Accepted Message Values',
		isParameter: true,
	},
	Workspace: { name: 'labelIds', label: 'With Label Names or IDs', beside: search },
};
const listWanted = 'must be an array, or text separated by commas or new lines, not ';
const listCases: Case[] = [
	{ name: 'an empty list', value: [] },
	{ name: 'an emptied field', value: '' },
	{ name: 'an object', value: { a: 1 }, refused: `${listWanted}an object` },
	{ name: 'a boolean', value: true, refused: `${listWanted}a boolean` },
	{ name: 'a list of lists', value: [['a']], refused: 'must be text, not an array' },
];

const table: Array<[string, Places, Case[]]> = [
	...numbers.map(([places, limits]): [string, Places, Case[]] => [
		'a number',
		places,
		numberCases(limits),
	]),
	['a switch', switches, switchCases],
	['a text', texts, textCases],
	['a text that must be there', required, requiredCases],
	['a choice', choices, choiceCases],
	['a list', lists, listCases],
];

const rows = table.flatMap(([kind, places, cases]) =>
	nodeNames.flatMap((node) => {
		const place = places[node];
		return 'none' in place ? [] : [{ kind, node, place, cases, field: place.label }];
	}),
);

/**
 * On a busy machine, the least time may be over before an answer has come. A node that says so has
 * taken it.
 */
async function isDoneInTime(running: Promise<void>): Promise<boolean> {
	return await running.then(
		() => true,
		async (error: unknown) => {
			if (!(error as Error).message.includes('did not respond within 1 s')) throw error;
			// Its request may still be on its way.
			await turns(20);
			return false;
		},
	);
}

describe.each(rows)('$kind: $field of $node', ({ node, place, cases }) => {
	const given = (value: unknown) => {
		const own = { [place.name]: value } as IDataObject;
		const { beside } = place;
		return place.isParameter
			? { parameters: { ...beside, ...own } }
			: {
					options: place.isTimeLimit ? { timeLimits: { limits: own } } : own,
					...(beside && { parameters: beside }),
				};
	};
	const written = cases.flatMap((one) => [
		{ ...one, how: 'as a value' },
		{ ...one, how: 'by an expression', value: `={{ ${JSON.stringify(one.value)} }}` },
	]);

	test.each(written)('$name, $how', async ({ value, refused }) => {
		const before = nodes.traffic;
		const running = nodes.run(node, given(value));
		if (refused === undefined) {
			if (await isDoneInTime(running)) expect(nodes.traffic).toBeGreaterThan(before);
			return;
		}
		const { message, description } = await failureOf(running);
		const wanted = `'${place.label}' ${refused}`;
		// What may be chosen differs from field to field.
		expect(refused.endsWith(' ') ? message.slice(0, wanted.length) : message).toBe(wanted);
		expect(description).toContain('expression');
		expect(nodes.traffic).toBe(before);
	});
});
