import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { refusal } from '../../items/failure';
import { initialPayload } from './payload';

/** What the user gave for one item, checked. */
export interface ItemParameters {
	/** Empty: a new one is made. */
	readonly sessionId: string;
	readonly startStepName: string;
	/** JSON text. */
	readonly initialPayload: string;
	readonly options: ItemOptions;
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
	readonly timestamp: unknown;
}

/** @throws Failure 400 that names the parameter */
export function itemParameters(context: IExecuteFunctions, index: number): ItemParameters {
	const startStepName = text(context.getNodeParameter('startStepName', index, ''));
	if (startStepName.trim() === '') {
		throw refusal("'Start Step Name' is empty", 'Name the step where the agent starts.');
	}
	return {
		sessionId: text(context.getNodeParameter('sessionId', index, '')).trim(),
		startStepName,
		initialPayload: payload(context, index),
		options: itemOptions(context.getNodeParameter('options', index, {})),
	};
}

/** Items in flight at once. n8n evaluates an option of the whole node with the first item. */
export function parallelRequests(context: IExecuteFunctions): number {
	const { parallelRequests: value = 10 } = context.getNodeParameter('options', 0, {});
	return Math.max(1, Math.floor(Number(value)) || 10);
}

function payload(context: IExecuteFunctions, index: number): string {
	const payloadMode = context.getNodeParameter('payloadMode', index, 'taskAndInput');
	if (payloadMode === 'json') {
		return initialPayload({ payloadMode, payloadJson: context.getNodeParameter('payloadJson', index, '{}') });
	}
	if (payloadMode !== 'taskAndInput') {
		throw refusal(`'Payload' is '${text(payloadMode)}'`, "Allowed are 'taskAndInput' and 'json'.");
	}
	const task = text(context.getNodeParameter('task', index, ''));
	return initialPayload({ payloadMode, task, input: text(context.getNodeParameter('input', index, '')) });
}

function itemOptions(options: IDataObject): ItemOptions {
	return {
		timeoutSeconds: number(options.timeoutSeconds, 300, 'Timeout', 0.001),
		maxTries: number(options.maxTries, 5, 'Max Tries', 1),
		maxRetryWaitSeconds: number(options.maxRetryWaitSeconds, 60, 'Max Retry Wait', 0),
		includeHeaders: options.includeHeaders === true,
		userId: text(options.userId),
		userPublicKey: text(options.userPublicKey),
		signature: text(options.signature),
		// The form's default, 0, means not set.
		timestamp: Number(options.timestamp) === 0 ? '' : options.timestamp,
	};
}

function number(value: unknown, byDefault: number, label: string, minimum: number): number {
	if (value === undefined || value === null || value === '') return byDefault;
	const given = Number(value);
	if (Number.isFinite(given) && given >= minimum) return given;
	throw refusal(`'${label}' must be a number of at least ${minimum}`, `It is ${JSON.stringify(value)}.`);
}

/** Expressions give numbers and objects where a text is meant. */
function text(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value : JSON.stringify(value);
}
