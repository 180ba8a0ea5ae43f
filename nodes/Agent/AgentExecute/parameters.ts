import type { IDataObject } from 'n8n-workflow';

import { refusal } from '../../items/failure';
import type { NodeParameters } from '../../items/nodeParameters';
import { numberOf, textOf } from '../session/givenValues';
import { areOverridesComputed, checkOverrides, isEmpty } from './overrides';
import { initialPayload, type KeptTexts } from './payload';

/** What the user gave for one item, checked. */
export interface ItemParameters {
	/** Empty: a new one is made. */
	readonly sessionId: string;
	readonly startStepName: string;
	/** JSON text. @throws Failure 400 when it is read again and can no longer be sent */
	initialPayload(): string;
	readonly options: ItemOptions;
	/** As they are when the item's turn comes. @throws Failure 400 for what can no longer be sent */
	optionsNow(): ItemOptions;
}

export interface ItemOptions {
	readonly timeoutSeconds: number;
	readonly maxTries: number;
	readonly maxRetryWaitSeconds: number;
	readonly includeHeaders: boolean;
	/** Empty: the credential's. */
	readonly userId: string;
	readonly userPublicKey: string;
	readonly signature: string;
	readonly timestamp: string;
}

/** @throws Failure 400 that names the parameter */
export function itemParameters(parameters: NodeParameters, index: number, texts: KeptTexts): ItemParameters {
	const startStepName = textOf(parameters.read('startStepName', index, ''));
	if (startStepName.trim() === '') {
		throw refusal("'Start Step Name' is empty", 'Name the step where the agent starts.');
	}
	const options = itemOptions(parameters, index);
	return {
		sessionId: textOf(parameters.read('sessionId', index, '')).trim(),
		startStepName,
		initialPayload: keptPayload(parameters, index, texts),
		options,
		optionsNow: () => (areOverridesComputed(parameters) ? itemOptions(parameters, index) : options),
	};
}

/** Items in flight at once. n8n evaluates an option of the whole node with the first item. */
export function parallelRequests(parameters: NodeParameters): number {
	try {
		return Math.max(
			1,
			Math.floor(Number(optionsOf(parameters, 0).parallelRequests ?? defaultParallel)) || defaultParallel,
		);
	} catch {
		// Another option of the first item has a failing expression: that item reports it itself.
		return defaultParallel;
	}
}

const defaultParallel = 10;

const payloadFields = ['task', 'input', 'payloadJson'];

function keptPayload(parameters: NodeParameters, index: number, texts: KeptTexts): () => string {
	const text = payload(parameters, index);
	if (!payloadFields.some((name) => parameters.isComputed(name))) return text;
	return texts.keep(text(), () => payload(parameters, index)());
}

function payload(parameters: NodeParameters, index: number): () => string {
	const payloadMode = parameters.read('payloadMode', index, 'taskAndInput');
	if (payloadMode === 'json') {
		return initialPayload({ payloadMode, payloadJson: parameters.read('payloadJson', index, '{}') });
	}
	if (payloadMode !== 'taskAndInput') {
		throw refusal(`'Payload' is '${textOf(payloadMode)}'`, "Allowed are 'taskAndInput' and 'json'.");
	}
	const task = textOf(parameters.read('task', index, ''));
	return initialPayload({ payloadMode, task, input: textOf(parameters.read('input', index, '')) });
}

function optionsOf(parameters: NodeParameters, index: number): IDataObject {
	return parameters.read('options', index, {}) as IDataObject;
}

function itemOptions(parameters: NodeParameters, index: number): ItemOptions {
	const options = optionsOf(parameters, index);
	checkOverrides(options, parameters);
	const { timeoutSeconds, maxTries, maxRetryWaitSeconds } = options;
	return {
		timeoutSeconds: numberOf(timeoutSeconds, { label: 'Timeout', byDefault: 300, minimum: 0.001 }),
		maxTries: numberOf(maxTries, { label: 'Max Tries', byDefault: 5, minimum: 1 }),
		maxRetryWaitSeconds: numberOf(maxRetryWaitSeconds, {
			label: 'Max Retry Wait',
			byDefault: 60,
			minimum: 0,
		}),
		includeHeaders: options.includeHeaders === true,
		userId: textOf(options.userId),
		userPublicKey: textOf(options.userPublicKey),
		signature: textOf(options.signature),
		timestamp: isEmpty(options, 'timestamp') ? '' : textOf(options.timestamp),
	};
}
