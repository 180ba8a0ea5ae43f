import type { IDataObject } from 'n8n-workflow';

import { refusal } from '../../items/failure';
import type { NodeParameters } from '../../items/nodeParameters';
import { type ChannelOptions, channelOptionsOf } from '../session/channelFields';
import { choiceOf, numberOf, textOf } from '../session/givenValues';

/** What ends a wait, apart from its limits. */
export type WaitEnd =
	| { readonly by: 'match'; readonly field: string; readonly value: string }
	| { readonly by: 'count'; readonly count: number }
	| { readonly by: 'close' }
	| { readonly by: 'silence'; readonly milliseconds: number };

export interface WaitSettings {
	readonly end: WaitEnd;
	readonly openChannel: 'before' | 'after';
	/** From the answer to the call. */
	readonly timeoutSeconds: number;
	readonly onTimeout: 'error' | 'output';
	readonly maxMessages: number;
	readonly channel: Required<ChannelOptions>;
}

/** What the user gave for one item; undefined when it does not wait. @throws Failure 400 that names the field */
export function waitSettings(parameters: NodeParameters, index: number): WaitSettings | undefined {
	if (parameters.read('waitForMessages', index, false) !== true) return undefined;
	const options = parameters.read('options', index, {}) as IDataObject;
	return {
		end: waitEnd((name, byDefault) => parameters.read(name, index, byDefault)),
		openChannel: choiceOf(options.openChannel, 'Open Channel', ['before', 'after']),
		timeoutSeconds: numberOf(options.waitTimeoutSeconds, {
			label: 'Wait Timeout',
			byDefault: 300,
			minimum: 0.001,
		}),
		onTimeout: choiceOf(options.onWaitTimeout, 'On Wait Timeout', ['error', 'output']),
		maxMessages: numberOf(options.maxMessages, {
			label: 'Max Messages',
			byDefault: 1000,
			minimum: 1,
			whole: true,
		}),
		channel: channelOptionsOf(options),
	};
}

function waitEnd(given: (name: string, byDefault: string | number) => unknown): WaitEnd {
	const by = choiceOf(given('waitUntil', 'match'), 'Wait Until', ['match', 'count', 'close', 'silence']);
	if (by === 'close') return { by };
	if (by === 'count') {
		const field = { label: 'Message Count', byDefault: 1, minimum: 1, whole: true };
		return { by, count: numberOf(given('messageCount', 1), field) };
	}
	if (by === 'silence') {
		const field = { label: 'Silence', byDefault: 5, minimum: 0.001 };
		return { by, milliseconds: numberOf(given('silenceSeconds', 5), field) * 1000 };
	}
	const field = textOf(given('matchField', '')).trim();
	if (field === '') {
		throw refusal(
			"'Match Field' is empty",
			'Name the field of the message that tells its end, such as type.',
		);
	}
	return { by, field, value: textOf(given('matchValue', '')) };
}
