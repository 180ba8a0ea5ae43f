import { refusal } from '../../core/failure';
import { type ChannelOptions, channelOptionsOf } from '../session/fields';
import type { FieldValues } from '../session/messageField';
import type { ExecuteParams } from './parameters';

/** What ends a wait, apart from its limits. */
export type WaitEnd =
	| ({ readonly by: 'match' } & FieldValues)
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
	/** Messages that report a failure; undefined: none do. */
	readonly failure: FieldValues | undefined;
	/** Dot path of the text in a JSON message. */
	readonly textField: string;
	readonly enableStreaming: boolean;
	/** Dot path of a message's id; empty: messages have none. */
	readonly deduplicationField: string;
	readonly channel: Required<ChannelOptions>;
}

/** Undefined if the item does not wait. @throws Failure 400 if nothing defines the end */
export function waitSettings(params: ExecuteParams): WaitSettings | undefined {
	if (!params.waitForMessages) return undefined;
	const { openChannel, waitTimeoutSeconds, onWaitTimeout, maxMessages } = params;
	const { textField, enableStreaming, deduplicationField } = params;
	return {
		end: waitEnd(params),
		openChannel,
		timeoutSeconds: waitTimeoutSeconds,
		onTimeout: onWaitTimeout,
		maxMessages,
		failure: failureValues(params),
		textField: textField.trim(),
		enableStreaming,
		deduplicationField: deduplicationField.trim(),
		channel: channelOptionsOf(params),
	};
}

function waitEnd(params: ExecuteParams): WaitEnd {
	const { waitUntil: by, messageCount, silenceSeconds } = params;
	switch (by) {
		case 'match':
			return { by, ...matchValues(params) };
		case 'count':
			return { by, count: messageCount };
		case 'silence':
			return { by, milliseconds: silenceSeconds * 1000 };
		case 'close':
			return { by };
	}
}

function matchValues({ matchField, matchValue: values }: ExecuteParams): FieldValues {
	const field = matchField.trim();
	if (field === '' && values.length === 0) {
		throw refusal(
			"'Match Field' and 'Match Value' are empty",
			'Enter the field and value of the message that ends the wait, such as type and answer. If the service ends with a text message such as [DONE], enter only the value.',
		);
	}
	return { field, values: values.length === 0 ? [''] : values };
}

function failureValues({ failureField, failureValue: values }: ExecuteParams): FieldValues | undefined {
	return values.length === 0 ? undefined : { field: failureField.trim(), values };
}
