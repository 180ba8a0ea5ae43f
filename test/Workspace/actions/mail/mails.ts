import type { IBinaryKeyData, IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import {
	collectParts,
	findHeader,
	readText,
	type MimePart,
} from '../../../../dev/google/gmail/mime';
import type { MailSeed } from '../../../../dev/google/gmail/seed';
import { type Field, getCollectionName } from '../../../../nodes/fields/field';
import { commonOptions } from '../../../../nodes/fields/commonOptions';
import { resources } from '../../../../nodes/Workspace/resources';
import { Workspace } from '../../../../nodes/Workspace/Workspace.node';
import { getGlobalSingleton } from '../../../../nodes/core/globalSingleton';
import { failureOf, withBinaryData } from '../../../createExecuteContext';
import { createNodeContext, runNode, token } from '../../runNode';
import { StandIn } from '../../standIn';

/**
 * Puts values by name where the form has them: a field beside the others, an option into its
 * collection. With an ID to reply to, the email is a reply; with times, the emails are those
 * between them.
 */
export function arrangeForm({ options, ...parameters }: IDataObject): IDataObject {
	const operation = resources
		.find(({ value }) => value === 'mail')
		?.operations.find(({ value }) => value === parameters['operation']);
	const allFields: readonly Field[] = operation?.fields ?? [];
	const allOptions: readonly Field[] = [...(operation?.options ?? []), ...commonOptions];
	const form: IDataObject = { options: {} };
	if ('replyToMessageId' in parameters) form['email'] = 'reply';
	const place = (name: string, value: unknown, isOption: boolean) => {
		if (name.startsWith('received') && name !== 'received') form['received'] = 'between';
		const option = allOptions.find((field) => field.name === name);
		const isField = allFields.some((field) => field.name === name);
		if (isField || (!option && !isOption)) form[name] = value as IDataObject;
		else {
			const collectionName = option ? getCollectionName(option) : 'options';
			form[collectionName] = { ...(form[collectionName] as IDataObject), [name]: value };
		}
	};
	for (const [name, value] of Object.entries(parameters)) place(name, value, false);
	for (const [name, value] of Object.entries(options ?? {})) place(name, value, true);
	return form;
}

/** The stand-in of a test file, empty before each test, and the node's mail operations against it. */
export class Mails extends StandIn {
	constructor() {
		super();
		beforeAll(withBinaryData);
		beforeEach(() => {
			this.signIn();
			// All tests have the same token.
			getGlobalSingleton('senderLists', () => new Map<string, unknown>()).clear();
		});
	}

	get gmail() {
		return this.google.gmail;
	}

	get sent() {
		return this.gmail.sent;
	}

	/** Method ids of what came in, without their common part. */
	get methods(): Array<string | undefined> {
		return this.google.requests.map(({ method }) => method?.replace('gmail.users.', ''));
	}

	get queries(): string[] {
		return this.google.requests.map(({ query }) =>
			decodeURIComponent(query.toString().replaceAll('+', ' ')),
		);
	}

	/** How many requests of a method came in. */
	count(method: string): number {
		return this.methods.filter((one) => one === method).length;
	}

	/** The only email that was sent. */
	get only() {
		const [only, ...others] = this.sent;
		if (only && others.length === 0) return only;
		throw new Error(`${this.sent.length} emails were sent`);
	}

	/** Issues the node's token, with other scopes than the usual ones if they are given. */
	signIn(scopes?: readonly string[]): void {
		this.google.tokens.issue({ token, scopes });
	}

	/** Lets an email come in. @param raw as text, with \n at the end of lines. @returns its ID */
	seed(raw: string | Buffer, more: MailSeed = {}): string {
		const bytes = typeof raw === 'string' ? raw.replaceAll('\n', '\r\n') : raw;
		return this.gmail.seed({ raw: bytes, ...more });
	}

	/** Lets an email come in, and reads it. */
	async read(raw: string | Buffer, options: IDataObject = {}) {
		const [item, ...more] = await this.run('read', { messageId: this.seed(raw) }, options);
		if (!item || more.length > 0) throw new Error('Read gives one item');
		return item;
	}

	/** Runs the node with form fields, which go beside the options. */
	async run(
		operation: string,
		parameters: IDataObject,
		options: IDataObject = {},
		items?: INodeExecutionData[],
		node?: Partial<INode>,
	) {
		return await runNode({
			url: this.google.url,
			parameters: arrangeForm({
				resource: 'mail',
				operation,
				...parameters,
				options: { timeLimits: { limits: { maxRetryWaitSeconds: 1 } }, ...options },
			}),
			items,
			node,
		});
	}

	/** How a run fails. */
	async failure(operation: string, parameters: IDataObject, options: IDataObject = {}) {
		return await failureOf(this.run(operation, parameters, options));
	}

	/** Runs the node in JSON mode. @param more fields beside the input object */
	async json(inputObject: unknown, more: IDataObject = {}) {
		const parameters = { inputMode: 'json', inputObject: inputObject as IDataObject, ...more };
		return await runNode({ url: this.google.url, parameters });
	}

	/** Runs the node. @returns its output and its hints */
	async hinted(parameters: IDataObject, items?: INodeExecutionData[]) {
		const context = createNodeContext({
			url: this.google.url,
			parameters: arrangeForm({ resource: 'mail', ...parameters }),
			items,
		});
		const [found = []] = await new Workspace().execute.call(context);
		return { items: found, hints: context.hints.map(({ message }) => message) };
	}

	/** Expects a run to be refused before any request to Google. @returns the error's message */
	async refused(running: Promise<unknown>): Promise<string> {
		const { message, httpCode } = await failureOf(running);
		expect([httpCode, this.methods]).toEqual(['400', []]);
		return message;
	}
}

interface WithParts {
	readonly mime: MimePart;
}

export const headerOf = ({ mime }: WithParts, name: string) => findHeader(mime.headers, name);

/** The text of the only part of a type. */
export function textOf({ mime }: WithParts, mimeType: string): string | undefined {
	const part = collectParts(mime).find((one) => one.mimeType === mimeType);
	return part && readText(part);
}

export const filesOf = ({ mime }: WithParts) =>
	collectParts(mime).filter(({ filename }) => filename !== '');

export function binary(
	data: Buffer | string,
	fileName?: string,
	mimeType = 'text/plain',
): IBinaryKeyData[string] {
	const bytes = typeof data === 'string' ? Buffer.from(data) : data;
	return {
		data: bytes.toString('base64'),
		mimeType,
		...(fileName !== undefined && { fileName }),
	};
}
